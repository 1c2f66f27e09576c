import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayClient, Schemas } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { parseUsd } from '../../input/parse-number.ts'
import { interruptible } from '../../interruption.ts'
import { formatAccountUsd, formatUsd } from '../../output/format-usd.ts'

interface TopupOptions {
  /** False with `--no-follow`. */
  readonly follow: boolean
}

const LOOK_EVERY_MS = 1_000

export const topup = clientCommand<TopupOptions>({
  name: 'topup',
  summary: 'Buy credit: prints the address where it is paid, and waits until it is.',
  example: 'parkway topup 25',
  define: (command) =>
    command
      .argument('<dollars>', 'how much')
      .option('--no-follow', 'print the address and end')
      .addHelpText('after', '\nCtrl-C only ends the waiting: the address stays valid until it expires.'),
  async act({ output, isJson, connect, printJson }, { follow }, dollars = '') {
    const gateway = connect()
    const body = { amount_usd: parseUsd('<dollars>', dollars) }
    const checkout = await gateway.call((routes) => routes.POST('/v1/payments/checkout', { body }))
    if (!follow) return isJson ? printJson(checkout) : output.line(requireWebAddress(checkout.checkout_url))
    const address = requireWebAddress(checkout.checkout_url)
    if (isJson) output.note(address)
    else output.line(address)
    output.note(`Pay ${formatUsd(checkout.amount_usd)} there. Waiting …`)
    const payment = await interruptible((signal) =>
      waitForPayment(gateway, checkout.id, { signal, expiresAt: checkout.expires_at }),
    )
    if (isJson) return printJson(payment)
    const { balance_usd: balance } = await gateway.call((routes) => routes.GET('/v1/usage/budget'))
    output.line(`Paid ${formatUsd(payment.amount_usd)}. The balance is ${formatAccountUsd(balance)}.`)
  },
})

/** Looks until the payment has ended. Throws unless it is paid. */
async function waitForPayment(
  gateway: GatewayClient,
  id: string,
  { signal, expiresAt }: { signal: AbortSignal; expiresAt: string },
): Promise<Schemas['Payment']> {
  for (;;) {
    const payment = await gateway.call((routes) =>
      routes.GET('/v1/payments/{id}', { params: { path: { id } } }),
    )
    if (payment.status === 'completed') return payment
    const isOpen = payment.status === 'pending' || payment.status === 'processing'
    if (!isOpen) throw new CommandFailure(EXIT.failed, `Nothing was paid: the payment is ${payment.status}.`)
    if (payment.status === 'pending' && Date.now() > Date.parse(expiresAt))
      throw new CommandFailure(EXIT.failed, 'Nothing was paid before the address expired.')
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted)
      throw new CommandFailure(
        EXIT.interrupted,
        `The payment ${id} is still open: the address can be paid until ${expiresAt}.`,
      )
  }
}

/** The address is printed to be opened, so it must be one of the web and nothing that a terminal obeys. */
export function requireWebAddress(address: string): string {
  if (/^https?:\/\/[\u0021-\u007e]+$/.test(address)) return address
  throw new CommandFailure(EXIT.failed, 'The gateway sent no address to pay at.')
}
