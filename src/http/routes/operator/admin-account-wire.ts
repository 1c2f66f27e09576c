import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Account } from '../../../modules/accounts/accounts.ts'
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
