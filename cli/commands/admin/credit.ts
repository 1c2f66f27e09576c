import { randomUUID } from 'node:crypto'
import { clientCommand } from '../../client-command.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseDate } from '../../input/parse-date.ts'
import { parseUsd } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printable } from '../../output/printable.ts'

interface CreditOptions {
  readonly reason: string
  readonly promotional?: boolean
  readonly expires?: string
  readonly once?: string
  readonly yes?: boolean
}

export const credit = clientCommand<CreditOptions>({
  name: 'credit',
  summary: 'Give credit to an account, or take it back with a negative amount.',
  example: 'parkway admin credit "$ACCOUNT_ID" 25 --reason "Paid by invoice" --yes',
  define: (command) =>
    command
      .argument('<account>', 'its id')
      .argument('<dollars>', 'how much; write -- before a negative amount')
      .requiredOption('--reason <text>', 'why, for the ledger')
      .option('--promotional', 'spent before paid credit')
      .option('--expires <date>', 'when it ends, such as 2030-01-31')
      .option('--once <word>', 'the same word gives the credit only once')
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, options, id = '', dollars = '') {
    const amount = parseUsd('<dollars>', dollars)
    const expiresAt = options.expires === undefined ? undefined : parseDate('--expires', options.expires)
    const gateway = connect()
    const params = { path: { id } }
    const { name } = await gateway.call((routes) => routes.GET('/v1/admin/accounts/{id}', { params }))
    const deed = amount < 0 ? `Take ${formatUsd(-amount)} from` : `Give ${formatUsd(amount)} to`
    await requireConsent(`${deed} ${printable(name)} (${id})?`, options.yes === true)
    const body = {
      amount_usd: amount,
      reason: options.reason,
      ...(options.promotional === true ? { class: 'promotional' as const } : {}),
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    }
    // A request that is sent again after a lost answer must not give the credit twice.
    const header = { 'Idempotency-Key': options.once ?? randomUUID() }
    const payment = await gateway.call((routes) =>
      routes.POST('/v1/admin/accounts/{id}/credit', { params: { ...params, header }, body }),
    )
    if (isJson) return printJson(payment)
    output.line(`The balance of ${printable(name)} is ${formatUsd(payment.balance_usd)}.`)
  },
})
