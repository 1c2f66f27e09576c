import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { formatUsd, usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import {
  MOVEMENT_KINDS,
  numberText,
  type AccountSums,
  type Statement,
  type StatementSummary,
} from '../../../modules/statements/statements.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import { accountAddress, toAddressForm } from './alert-forms.ts'

const Money = (description: string) =>
  Type.Object(
    {
      usd: Type.Number({ description: 'In US dollars.' }),
      nano_usd: Type.String({ description: 'The same in whole nano-dollars, so that sums are exact.' }),
    },
    { description },
  )

const BALANCES = {
  opening_balance: Money('At the beginning of the month: the closing balance of the month before.'),
  top_ups: Money('What was paid in.'),
  promotional_credit: Money('What promo codes gave.'),
  charges: Money('What requests cost, negative.'),
  costs_owed: Money('Costs of requests above what the balance covered, negative.'),
  refunds: Money('What went back to whoever paid, negative.'),
  adjustments: Money('What the operator gave or deducted.'),
  expired_credit: Money('Credit that expired, negative.'),
  closing_balance: Money('At the end of the month, or now: the sum of all the above.'),
}

const SUMMARY = {
  id: Type.String({ description: 'The month: `2026-10`.' }),
  object: objectName('statement'),
  month: Type.String({ description: 'The month: `2026-10`.' }),
  status: Type.Enum(['open', 'closed'], {
    description: 'Whether the month may still change. A closed statement never does.',
  }),
  number: orNull(
    Type.String(),
    'The number of the closed statement of the account. Null before, and for a month without any movement and balance.',
  ),
  from: Type.String({ format: 'date-time', description: 'The beginning of the month in UTC.' }),
  to: Type.String({ format: 'date-time', description: 'The beginning of the next month in UTC.' }),
  time_zone: Type.Literal('UTC', { description: 'Months of statements are of UTC.' }),
  charged: Money('What requests cost, positive.'),
  balance: orNull(
    Type.Object(BALANCES),
    'How the credit of the account changed. Null for a project: credit belongs to the account.',
  ),
}

export const StatementSummaryAnswer = Type.Object(SUMMARY, { title: 'StatementSummary' })

const Line = Type.Object({
  id: orNull(
    Type.String(),
    'The model, the id of the project or key, or the day. Null for what has no line of its own.',
  ),
  name: Type.String({ description: 'How it is called.' }),
  requests: Type.Integer({ description: 'How many requests were charged.' }),
  charged: Money('What they cost.'),
})

const lines = (description: string) => Type.Array(Line, { description })

export const StatementAnswer = Type.Object(
  {
    ...SUMMARY,
    closed_at: orNull(Type.String({ format: 'date-time' }), 'When the month was closed.'),
    account: Type.Object(
      { id: AccountId, name: Type.String({ description: 'Its name, when the month was closed.' }) },
      { description: 'Whose statement it is.' },
    ),
    project: orNull(
      Type.Object({
        id: Type.String({ description: 'The id of the project.' }),
        name: Type.String({ description: 'Its name.' }),
      }),
      'The project, if only its charges were asked for.',
    ),
    operator: Type.Object(
      {
        name: orNull(Type.String(), 'Who operates the gateway.'),
        address: orNull(Type.String(), 'The address, with `|` between its lines.'),
        tax_id: orNull(Type.String(), 'The tax id.'),
        tax_line: orNull(Type.String(), 'A sentence about taxes. It changes no amount.'),
      },
      { description: 'Who issues the statement. Null for what the operator has not set.' },
    ),
    charges: Type.Object(
      {
        by_model: lines('By model, the dearest first.'),
        by_project: lines('By project, the dearest first.'),
        by_key: lines('By key, the dearest first.'),
        by_day: lines('By the day of UTC on which the ledger has them.'),
      },
      { description: 'The charges, four times. Each list adds up to `charged`.' },
    ),
    movements: orNull(
      Type.Array(
        Type.Object({
          at: Type.String({ format: 'date-time', description: 'When the ledger has it.' }),
          kind: Type.Enum([...MOVEMENT_KINDS], { description: 'What it is.' }),
          amount: Money('Negative when credit went.'),
          reason: orNull(Type.String(), 'Why, in words.'),
        }),
      ),
      'Each top-up, refund, adjustment and so on, in order. Null for a project and without the permission `billing.manage`.',
    ),
    has_more_movements: Type.Boolean({
      description: 'Whether there are more than are listed; the CSV has all.',
    }),
  },
  { title: 'Statement' },
)

export function summaryToWire(summary: StatementSummary): Static<typeof StatementSummaryAnswer> {
  const { month, number, isClosed, chargedNanoUsd, balance } = summary
  return {
    id: month.name,
    object: 'statement',
    month: month.name,
    status: isClosed ? 'closed' : 'open',
    number: number === null ? null : numberText(number),
    from: toTimestamp(month.fromMs),
    to: toTimestamp(month.toMs),
    time_zone: 'UTC',
    charged: moneyToWire(chargedNanoUsd),
    balance: balance === null ? null : balanceToWire(balance),
  }
}

export function statementToWire(
  statement: Statement,
  { seesMovements }: { seesMovements: boolean },
): Static<typeof StatementAnswer> {
  const { month, account, project, operator, charges, balance, closedAtMs } = statement
  const { model, project: byProject, key, day } = charges.lines
  return {
    ...summaryToWire({ ...statement, id: month.name, chargedNanoUsd: charges.totalNanoUsd }),
    closed_at: closedAtMs === null ? null : toTimestamp(closedAtMs),
    account,
    project: project === null ? null : { ...project, id: wireId('project', project.id) },
    operator: {
      name: operator.name,
      address: operator.address,
      tax_id: operator.taxId,
      tax_line: operator.taxLine,
    },
    charges: {
      by_model: model.map(lineToWire),
      by_project: byProject.map((line) =>
        lineToWire({ ...line, id: line.id === null ? null : wireId('project', line.id) }),
      ),
      by_key: key.map(lineToWire),
      by_day: day.map(lineToWire),
    },
    movements: balance === null || !seesMovements ? null : balance.movements.map(movementToWire),
    has_more_movements: seesMovements && balance?.hasMoreMovements === true,
  }
}

/** The body of a webhook that tells of a closed month. */
export function statementToWebhook(
  statement: Statement,
  url: string,
  settings: Parameters<typeof accountAddress>[1],
): object {
  const { month, charges } = statement
  const event = {
    type: 'statement.closed',
    timestamp: toTimestamp(statement.closedAtMs ?? month.toMs),
    data: summaryToWire({ ...statement, id: month.name, chargedNanoUsd: charges.totalNanoUsd }),
  }
  const subject = `The statement of ${month.name} (UTC) is closed`
  const text = `${subject}. Charged: ${formatUsd(charges.totalNanoUsd)} USD.`
  return toAddressForm({ subject, text, event }, accountAddress(url, settings))
}

function moneyToWire(amount: NanoUsd) {
  return { usd: usdFromNanoUsd(amount), nano_usd: String(amount) }
}

function balanceToWire({
  openingNanoUsd,
  sums,
  closingNanoUsd,
}: Pick<AccountSums, 'openingNanoUsd' | 'sums' | 'closingNanoUsd'>) {
  return {
    opening_balance: moneyToWire(openingNanoUsd),
    top_ups: moneyToWire(sums.top_ups),
    promotional_credit: moneyToWire(sums.promotional_credit),
    charges: moneyToWire(sums.charges),
    costs_owed: moneyToWire(sums.costs_owed),
    refunds: moneyToWire(sums.refunds),
    adjustments: moneyToWire(sums.adjustments),
    expired_credit: moneyToWire(sums.expired_credit),
    closing_balance: moneyToWire(closingNanoUsd),
  }
}

function lineToWire({ id, name, requests, amountNanoUsd }: Statement['charges']['lines']['model'][number]) {
  return { id, name, requests, charged: moneyToWire(amountNanoUsd) }
}

function movementToWire({ atMs, kind, amountNanoUsd, reason }: AccountSums['movements'][number]) {
  return { at: toTimestamp(atMs), kind, amount: moneyToWire(amountNanoUsd), reason }
}
