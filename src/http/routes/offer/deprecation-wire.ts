import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Deprecation, KeyUse, ModelUse } from '../../../modules/deprecations/deprecations.ts'
import { NO_USAGE } from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { totalsFields, totalsToWire } from '../account/usage-wire.ts'

const DAYS_DEFAULT = 30
const AHEAD_DAYS_DEFAULT = 90

const LastUsed = orNull(
  Type.String({ format: 'date-time' }),
  'The beginning of the hour in which it was used last. Null: not in these days.',
)

export const DAYS = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 92,
    default: DAYS_DEFAULT,
    description: 'How many days back use counts.',
  }),
)

export const DeprecationQuery = {
  days: DAYS,
  ahead_days: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 730,
      default: AHEAD_DAYS_DEFAULT,
      description: 'Includes models that are not deprecated yet and will be, or will end, in so many days.',
    }),
  ),
}

export function readDeprecationQuery(query: { readonly days?: number; readonly ahead_days?: number }) {
  return { days: query.days ?? DAYS_DEFAULT, aheadDays: query.ahead_days ?? AHEAD_DAYS_DEFAULT }
}

/** What every user of a model may know of its end. */
export const endingFields = {
  id: Type.String({ description: 'The id of the model.' }),
  name: Type.String({ description: 'The name of the model for people.' }),
  vendor: Type.String({ description: 'The company that made the model.' }),
  state: Type.Enum(['announced', 'deprecated', 'ended'], {
    description:
      '`announced`: it will be deprecated or end soon. `deprecated`: it still answers, and its answers say so. `ended`: it was still used in these days.',
  }),
  deprecated_from: orNull(
    Type.String({ format: 'date-time' }),
    'From when on answers say that the model will end.',
  ),
  shutdown_at: orNull(Type.String({ format: 'date-time' }), 'When it ends. Null if that is not known.'),
  successor: orNull(Type.String(), 'The model to use instead. Null if none is named.'),
  successor_answers: Type.Boolean({
    description: 'Whether the successor answers after the end. Otherwise the model is not found any more.',
  }),
}

export const useFields = {
  ...totalsFields,
  keys_count: Type.Integer({ description: 'How many keys used it.' }),
  last_used_at: LastUsed,
}

const Key = Type.Object(
  {
    id: Type.String({ description: 'The id of the key.' }),
    name: orNull(Type.String(), 'Its name. Null if it is deleted.'),
    is_revoked: Type.Boolean({ description: 'Whether the key is revoked or deleted by now.' }),
  },
  { description: 'Which key it was.' },
)

export const keyUseFields = { key: Key, ...totalsFields, last_used_at: LastUsed }

export const AccountKeyUse = Type.Object(
  {
    object: objectName('deprecation.key'),
    account: Type.Object(
      {
        id: Type.String({ description: 'The id of the account.' }),
        name: Type.String({ description: 'The name of the account.' }),
      },
      { description: 'To whom the key belongs.' },
    ),
    ...keyUseFields,
  },
  { title: 'DeprecationKey' },
)

export function endingToWire({ model, state, deprecatedFromMs, endMs, isSucceeded }: Deprecation) {
  return {
    id: model.id,
    name: model.displayName,
    vendor: model.vendor,
    state,
    deprecated_from: deprecatedFromMs === null ? null : toTimestamp(deprecatedFromMs),
    shutdown_at: endMs === null ? null : toTimestamp(endMs),
    successor: model.successor ?? null,
    successor_answers: isSucceeded && model.successor !== undefined,
  }
}

export function useToWire(use: ModelUse | null) {
  return {
    ...totalsToWire(use?.totals ?? NO_USAGE),
    keys_count: use?.keys ?? 0,
    last_used_at: use === null ? null : toTimestamp(use.lastHourMs),
  }
}

export function keyUseToWire({ key: { id, name, isRevoked }, totals, lastHourMs }: KeyUse) {
  return {
    key: { id, name, is_revoked: isRevoked },
    ...totalsToWire(totals),
    last_used_at: toTimestamp(lastHourMs),
  }
}
