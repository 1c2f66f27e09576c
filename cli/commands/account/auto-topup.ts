import type { Schemas } from '../../api/gateway-client.ts'
import { clientCommand, type CommandContext } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseUsd } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { requireWebAddress } from './topup.ts'

type AutoTopUp = Schemas['AutoTopUp']

const show = clientCommand({
  name: 'show',
  summary: 'Show the saved card, when it is charged, and what it was charged in this month.',
  example: 'parkway auto-topup',
  async act(context) {
    print(context, await context.connect().call((routes) => routes.GET('/v1/payments/auto-top-up')))
  },
})

interface SetOptions {
  readonly threshold?: string
  readonly amount?: string
  readonly ceiling?: string
}

const set = clientCommand<SetOptions>({
  name: 'set',
  summary: 'Set the threshold, the amount and the ceiling of a month.',
  example: 'parkway auto-topup set --threshold 10 --amount 50 --ceiling 200',
  define: (command) =>
    command
      .option('--threshold <dollars>', 'top up when the balance falls below it')
      .option('--amount <dollars>', 'what one top-up buys: at least the threshold')
      .option('--ceiling <dollars>', 'what top-ups may cost in a month of UTC'),
  async act(context, { threshold, amount, ceiling }) {
    const body = {
      ...(threshold !== undefined && { threshold_usd: parseUsd('--threshold', threshold) }),
      ...(amount !== undefined && { amount_usd: parseUsd('--amount', amount) }),
      ...(ceiling !== undefined && { monthly_ceiling_usd: parseUsd('--ceiling', ceiling) }),
    }
    if (Object.keys(body).length === 0)
      throw new CommandFailure(
        EXIT.usage,
        'There is nothing to set: give --threshold, --amount or --ceiling.',
      )
    await change(context, body)
  },
})

const on = clientCommand({
  name: 'on',
  summary: 'Switch the automatic top-up on. It needs a saved card and the three amounts.',
  example: 'parkway auto-topup on',
  act: (context) => change(context, { enabled: true }),
})

const off = clientCommand({
  name: 'off',
  summary: 'Switch the automatic top-up off. The card stays saved.',
  example: 'parkway auto-topup off',
  act: (context) => change(context, { enabled: false }),
})

const saveCard = clientCommand({
  name: 'save-card',
  summary: 'Print the address of the page where a card is saved, in place of an earlier one.',
  example: 'parkway auto-topup save-card',
  async act({ output, isJson, connect, printJson }) {
    const page = await connect().call((routes) => routes.POST('/v1/payments/saved-card', { body: {} }))
    if (isJson) return printJson(page)
    output.line(requireWebAddress(page.url))
    output.note(`Save the card there until ${page.expires_at}.`)
  },
})

const removeCard = clientCommand<{ readonly yes?: boolean }>({
  name: 'remove-card',
  summary: 'Remove the saved card, here and at the payment provider. It switches the automatic top-up off.',
  example: 'parkway auto-topup remove-card --yes',
  define: (command) => command.option('-y, --yes', 'do not ask'),
  async act(context, { yes }) {
    await requireConsent('Remove the saved card?', yes === true)
    print(context, await context.connect().call((routes) => routes.DELETE('/v1/payments/saved-card')))
  },
})

async function change(
  context: CommandContext,
  body: { enabled?: boolean; threshold_usd?: number; amount_usd?: number; monthly_ceiling_usd?: number },
): Promise<void> {
  print(context, await context.connect().call((routes) => routes.PATCH('/v1/payments/auto-top-up', { body })))
}

function print({ output, isJson, printJson }: CommandContext, topUp: AutoTopUp): void {
  if (isJson) return printJson(topUp)
  const { card, threshold_usd: threshold, amount_usd: amount, monthly_ceiling_usd: ceiling } = topUp
  printPairs(output, [
    ['state', `${topUp.enabled ? 'on' : 'off'}${topUp.charging ? ', charging now' : ''}`],
    ['card', card === null ? 'none' : `${card.brand} ending in ${card.last4}`],
    ['below', amountOf(threshold)],
    ['buys', amountOf(amount)],
    ['this month', `${formatUsd(topUp.spent_this_month_usd)} of ${amountOf(ceiling)}`],
    ...(topUp.problem === null ? [] : [['problem', topUp.problem] as const]),
  ])
}

function amountOf(usd: number | null): string {
  return usd === null ? 'not set' : formatUsd(usd)
}

export const autoTopup = commandGroup({
  name: 'auto-topup',
  summary: 'Buy credit by a saved card when the balance is low.',
  example: 'parkway auto-topup',
  byDefault: show,
  others: [set, on, off, saveCard, removeCard],
})
