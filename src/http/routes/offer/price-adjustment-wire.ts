import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { GIVEN_TERMS } from '../../../modules/catalog/catalog.ts'
import type { AdjustmentInput, OfferedAdjustment } from '../../../modules/offer/offer.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { Reason } from './model-wire.ts'

const Moment = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

/** Whom an adjustment is for, and what it does. */
export const ADJUSTMENT_MEMBERS = {
  account_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Only for requests of this account.' }),
  ),
  project_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only for requests of this project. Not with `account_id`.' }),
  ),
  model: Type.Optional(
    Type.String({ maxLength: 256, description: 'Only for this model, by its id. Without it, for all.' }),
  ),
  ...GIVEN_TERMS,
}

export const AdjustmentCreateBody = Type.Object(
  {
    ...ADJUSTMENT_MEMBERS,
    effective_from: Moment('The moment from which it is applied. At once without it. Not in the past.'),
    effective_until: Moment('The moment at which it ends. Without it, it has no end.'),
    reason: Reason,
  },
  {
    additionalProperties: false,
    examples: [{ percent: 12.5, reason: 'Our markup on what vendors charge.' }],
  },
)

export const AdjustmentChangeBody = Type.Object(
  {
    effective_until: orNull(
      Type.String({ format: 'date-time' }),
      'The moment of the future at which it ends. Null: it has no end.',
    ),
    reason: Reason,
  },
  { additionalProperties: false, examples: [{ effective_until: null }] },
)

export const AdjustmentAnswer = Type.Object(
  {
    id: Type.String({ description: 'Its id, which the bills that it changed name.' }),
    object: objectName('price_adjustment'),
    state: Type.Enum(['past', 'in_force', 'future', 'withdrawn'], {
      description: 'Whether it was applied, is applied, will be applied, or was withdrawn before.',
    }),
    account_id: orNull(Type.String({ format: 'uuid' }), 'The account that it is for.'),
    project_id: orNull(Type.String(), 'The project that it is for.'),
    model: orNull(Type.String(), 'The model that it is for. Null: all.'),
    percent: orNull(Type.Number(), 'The markup in percent; a discount if it is negative.'),
    per_unit: orNull(
      Type.Record(Type.String(), Type.Unknown()),
      'The amount for each unit, with its `unit`.',
    ),
    effective_from: Type.String({ format: 'date-time', description: 'The moment from which it is applied.' }),
    effective_until: orNull(
      Type.String({ format: 'date-time' }),
      'The moment at which it ends. Null: it has no end.',
    ),
    created_by: orNull(Type.String(), 'The key that added it.'),
    reason: orNull(Type.String(), 'Why it was added.'),
    created_at: Type.String({ format: 'date-time', description: 'When it was added.' }),
  },
  { title: 'PriceAdjustment' },
)

export function adjustmentToWire(one: OfferedAdjustment, nowMs: number): Record<string, unknown> {
  return {
    id: String(one.version),
    object: 'price_adjustment',
    state: stateOf(one, nowMs),
    account_id: one.accountId,
    project_id: one.projectId === null ? null : wireId('project', one.projectId),
    model: one.model,
    percent: one.given['percent'] ?? null,
    per_unit: one.given['per_unit'] ?? null,
    effective_from: toTimestamp(one.effectiveFromMs),
    effective_until: one.effectiveUntilMs === null ? null : toTimestamp(one.effectiveUntilMs),
    created_by: one.authorKeyId,
    reason: one.reason,
    created_at: toTimestamp(one.createdAtMs),
  }
}

function stateOf({ effectiveFromMs, effectiveUntilMs, withdrawnAtMs }: OfferedAdjustment, nowMs: number) {
  if (withdrawnAtMs !== null) return 'withdrawn'
  if (effectiveFromMs > nowMs) return 'future'
  return effectiveUntilMs !== null && effectiveUntilMs <= nowMs ? 'past' : 'in_force'
}

export function readAdjustmentInput(
  body: Static<typeof AdjustmentCreateBody>,
  authorKeyId: string,
): AdjustmentInput {
  const { effective_from: from, effective_until: until, reason = null, percent, per_unit: perUnit } = body
  return {
    accountId: body.account_id?.toLowerCase() ?? null,
    projectId: body.project_id === undefined ? null : readProjectId(body.project_id),
    model: body.model ?? null,
    given: {
      ...(percent === undefined ? {} : { percent }),
      ...(perUnit === undefined ? {} : { per_unit: perUnit }),
    },
    effectiveFromMs: from === undefined ? null : parseTimestamp('effective_from', from),
    effectiveUntilMs: until === undefined ? null : parseTimestamp('effective_until', until),
    authorKeyId,
    reason,
  }
}

export function readProjectId(text: string): string {
  const id = parseWireId('project', text)
  if (id === null) throw invalidValue('project_id', 'This is not the id of a project.')
  return id
}
