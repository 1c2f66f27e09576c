import type { Schemas } from '../../api/gateway-client.ts'
import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { parseDate } from '../../input/parse-date.ts'
import { parseUsd, parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'

const list = clientCommand<{ readonly limit: string }>({
  name: 'list',
  summary: 'List promo codes, and how often each was redeemed.',
  example: 'parkway admin promo list',
  define: (command) => command.option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const gateway = connect()
    const codes = await readPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/admin/promo-codes', { params: { query } })),
    )
    if (isJson) return printJsonLines(codes)
    if (codes.length === 0) return output.note('There are no promo codes.')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true },
        { title: 'code', of: ({ code }) => code, rank: 1 },
        { title: 'credit', of: (code) => formatUsd(code.amount_usd), isNumber: true, rank: 3 },
        {
          title: 'redeemed',
          of: (code) => `${code.redemptions} of ${code.redemptions_max ?? 'any'}`,
          rank: 4,
        },
        { title: 'expires', of: (code) => code.expires_at ?? '-', isTime: true, rank: 5 },
        { title: 'state', of: stateOf, rank: 2 },
      ],
      codes,
    )
  },
})

interface CreateOptions {
  readonly code?: string
  readonly expires?: string
  readonly creditDays?: string
  readonly max?: string
  readonly perAccount?: string
}

const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Make a promo code and print it.',
  example: 'parkway admin promo create 5 --max 100 --credit-days 30',
  define: (command) =>
    command
      .argument('<dollars>', 'the credit that it gives')
      .option('--code <text>', 'the code; a random one by default')
      .option('--expires <date>', 'until when it can be redeemed')
      .option('--credit-days <number>', 'for how many days the credit can be spent')
      .option('--max <number>', 'how often it can be redeemed in total')
      .option('--per-account <number>', 'how often one account can redeem it'),
  async act({ output, isJson, connect, printJson }, options, dollars = '') {
    const { code, expires, creditDays, max, perAccount } = options
    const many = { max: 1_000_000 }
    const body = {
      amount_usd: parseUsd('<dollars>', dollars),
      ...(code === undefined ? {} : { code }),
      ...(expires === undefined ? {} : { expires_at: parseDate('--expires', expires) }),
      ...(creditDays === undefined
        ? {}
        : { credit_expires_in_days: parseWhole('--credit-days', creditDays) }),
      ...(max === undefined ? {} : { redemptions_max: parseWhole('--max', max, many) }),
      ...(perAccount === undefined
        ? {}
        : { redemptions_per_account_max: parseWhole('--per-account', perAccount, many) }),
    }
    const made = await connect().call((routes) => routes.POST('/v1/admin/promo-codes', { body }))
    if (isJson) return printJson(made)
    output.note(printable(`It gives ${formatUsd(made.amount_usd)}; its id is ${made.id}.`))
    output.line(printable(made.code))
  },
})

const disable = clientCommand({
  name: 'disable',
  summary: 'Make a promo code invalid. Credit that was redeemed stays.',
  example: 'parkway admin promo disable "$PROMO_ID"',
  define: (command) => command.argument('<promo>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const code = await connect().call((routes) =>
      routes.POST('/v1/admin/promo-codes/{id}/disable', { params: { path: { id } } }),
    )
    if (isJson) return printJson(code)
    output.line(`${printable(code.code)} is disabled. It was redeemed ${code.redemptions} times.`)
  },
})

function stateOf({ disabled_at: disabled, expires_at: expires }: Schemas['PromoCode']): string {
  if (disabled !== null) return 'disabled'
  return expires !== null && Date.parse(expires) < Date.now() ? 'expired' : 'valid'
}

export const promo = commandGroup({
  name: 'promo',
  summary: 'List, make and disable promo codes.',
  example: 'parkway admin promo',
  byDefault: list,
  others: [create, disable],
})
