import { randomUUID } from 'node:crypto'
import { clientCommand } from '../../client-command.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseUsd } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'

interface RefundOptions {
  readonly amount?: string
  readonly reason?: string
  readonly once?: string
  readonly yes?: boolean
}

export const refund = clientCommand<RefundOptions>({
  name: 'refund',
  summary: 'Refund a payment at its provider and take the credit back, in whole or in part.',
  example: 'parkway admin refund "$PAYMENT_ID" --reason "Paid twice" --yes',
  define: (command) =>
    command
      .argument('<payment>', 'its id')
      .option('--amount <dollars>', 'a part of it; by default what is left')
      .option('--reason <text>', 'why; the account reads it')
      .option('--once <word>', 'the same word is the same refund')
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { amount, reason, once, yes }, id = '') {
    const amountUsd = amount === undefined ? undefined : parseUsd('--amount', amount)
    const gateway = connect()
    const part = amountUsd === undefined ? 'what is left of' : `${formatUsd(amountUsd)} of`
    await requireConsent(`Refund ${part} the payment ${id}? This cannot be undone.`, yes === true)
    const body = {
      ...(amountUsd === undefined ? {} : { amount_usd: amountUsd }),
      ...(reason === undefined ? {} : { reason }),
    }
    // A request that is sent again after a lost answer must not refund twice.
    const header = { 'Idempotency-Key': once ?? randomUUID() }
    const payment = await gateway.call((routes) =>
      routes.POST('/v1/admin/payments/{id}/refund', { params: { path: { id }, header }, body }),
    )
    if (isJson) return printJson(payment)
    output.line(`The payment of ${formatUsd(payment.amount_usd)} is ${payment.status.replaceAll('_', ' ')}.`)
  },
})
