import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Account, ListedAccount } from '../../../modules/accounts/accounts.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import {
  CreatedAt,
  SHOWN_LINE,
  SHOWN_LINES,
  UpdatedAt,
  UuidId,
  objectName,
} from '../../../wires/usual-members.ts'
import { csvRow } from '../../answers/csv-row.ts'
import { USD_MAX } from '../../parameters/parse-usd.ts'
import { Name } from '../account/api-key-wire.ts'

// Unknown members are refused, so that a misspelt limit is not ignored.
export const AccountCreateBody = Type.Object(
  {
    name: described(Name, 'A name for people, without control characters.'),
    credit_usd: Type.Optional(
      Type.Number({ minimum: 0, maximum: USD_MAX, default: 0, description: 'What the account starts with.' }),
    ),
  },
  { additionalProperties: false },
)

// Unknown members are refused, so that a misspelt reason is not ignored.
export const SuspendBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        pattern: SHOWN_LINE,
        description:
          'Why, for the account: it is in the message of every refusal. Without one the reason stays.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const AccountUpdateBody = Type.Object(
  {
    note: Type.Union([Type.String({ minLength: 1, maxLength: 4_000, pattern: SHOWN_LINES }), Type.Null()], {
      description: 'For operators. The account does not see it. Null deletes it.',
    }),
  },
  { additionalProperties: false },
)

export const AccountAnswer = Type.Object({
  id: UuidId,
  object: objectName('account'),
  name: Type.String({ description: 'The name of the account.' }),
  status: Type.Enum(['active', 'suspended'], { description: 'The state it is in.' }),
  suspended_reason: orNull(Type.String(), 'Why it is suspended, as it is told.'),
  note: orNull(Type.String(), 'A note of operators. The account does not see it.'),
  balance_usd: Type.Number({ description: 'The balance of the account in US dollars.' }),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
})

export function accountToWire(account: Account): Static<typeof AccountAnswer> {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    status: account.status,
    suspended_reason: account.suspendedReason,
    note: account.note,
    balance_usd: usdFromNanoUsd(account.balanceNanoUsd),
    created_at: toTimestamp(account.createdAtMs),
    updated_at: toTimestamp(account.updatedAtMs),
  }
}

export const ListedAccountAnswer = Type.Object({
  ...AccountAnswer.properties,
  spent_30d_usd: Type.Number({
    description: 'What it spent in the last 30 days of UTC, the current one among them.',
  }),
  spent_before_usd: Type.Number({ description: 'What it spent in the 30 days before.' }),
  failed_requests_30d: Type.Integer({
    description: 'How many of its requests failed in the last 30 days, also those that were not charged.',
  }),
})

export function listedToWire(account: ListedAccount): Static<typeof ListedAccountAnswer> {
  return {
    ...accountToWire(account),
    spent_30d_usd: usdFromNanoUsd(account.spentNanoUsd),
    spent_before_usd: usdFromNanoUsd(account.spentBeforeNanoUsd),
    failed_requests_30d: account.failedRequests,
  }
}

const CSV_COLUMNS = [
  'id',
  'name',
  'status',
  'suspended_reason',
  'note',
  'balance_usd',
  'spent_30d_usd',
  'spent_before_usd',
  'failed_requests_30d',
  'created_at',
]

export async function* writeAccountsCsv(
  pages: AsyncIterable<readonly ListedAccount[]>,
): AsyncGenerator<string> {
  yield csvRow(CSV_COLUMNS)
  for await (const accounts of pages) yield accounts.map(accountToCsv).join('')
}

function accountToCsv(account: ListedAccount): string {
  return csvRow([
    account.id,
    account.name,
    account.status,
    account.suspendedReason,
    account.note,
    { nanoUsd: account.balanceNanoUsd },
    { nanoUsd: account.spentNanoUsd },
    { nanoUsd: account.spentBeforeNanoUsd },
    account.failedRequests,
    toTimestamp(account.createdAtMs),
  ])
}
