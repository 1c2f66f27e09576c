import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { BudgetRequest } from '../../../modules/budgets/budgets.ts'
import { BUDGET_PERIODS } from '../../../modules/ledger/ledger.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, Id, objectName } from '../../../wires/usual-members.ts'
import {
  AmountUsd,
  CLOSED,
  personOrKey,
  SubjectAnswer,
  subjectToWire,
  TEXT,
  Time,
  Until,
} from './budget-wire.ts'

export const ApproveBody = Type.Object(
  { amount_usd: Type.Optional(AmountUsd), until: Type.Optional(Until) },
  { ...CLOSED, examples: [{ amount_usd: 25 }] },
)

export const NewRequestBody = Type.Object(
  {
    budget_id: Type.String({ maxLength: 100, description: 'The id of a budget that limits you.' }),
    amount_usd: AmountUsd,
    until: Until,
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: TEXT,
      description: 'Why, in words, without control characters.',
    }),
  },
  {
    ...CLOSED,
    examples: [
      {
        budget_id: 'budget_0196f3a1c2d47e8f9a0b1c2d3e4f5a6b',
        amount_usd: 20,
        until: '2030-01-31T00:00:00Z',
        reason: 'The launch is on Friday.',
      },
    ],
  },
)

export const REQUEST_STATUSES = ['pending', 'approved', 'refused'] as const

export const RequestAnswer = Type.Object(
  {
    id: Id,
    object: objectName('organization.budget_request'),
    budget_id: Type.String({ description: 'The budget that it is about.' }),
    budget: Type.Object(
      {
        subject: SubjectAnswer,
        window: Type.Enum([...BUDGET_PERIODS], { description: 'How long it counts.' }),
        limit_usd: Type.Number({ description: 'Its limit now, without raises.' }),
      },
      { description: 'What is limited.' },
    ),
    requested_by: Type.String({ description: 'The person, or the key of no person, that asks.' }),
    requested_by_name: orNull(
      Type.String(),
      'The e-mail address of the person, or the name of the service account or key.',
    ),
    amount_usd: Type.Number({ description: 'What is asked for beside the limit.' }),
    until: Type.String({ format: 'date-time', description: 'Until when it is asked for.' }),
    reason: Type.String({ description: 'Why, in words.' }),
    status: Type.Enum([...REQUEST_STATUSES], { description: 'Whether somebody has decided.' }),
    decided_by: orNull(Type.String(), 'The person, or the key of no person, that decided.'),
    decided_at: orNull(Time, 'When it was decided.'),
    created_at: CreatedAt,
  },
  { title: 'BudgetRequest' },
)

export function requestToWire(request: BudgetRequest): Static<typeof RequestAnswer> {
  const { decidedAtMs } = request
  return {
    id: wireId('budgetRequest', request.id),
    object: 'organization.budget_request',
    budget_id: wireId('budget', request.budgetId),
    budget: {
      subject: subjectToWire(request.subject),
      window: request.period,
      limit_usd: usdFromNanoUsd(request.limitNanoUsd),
    },
    requested_by: personOrKey(request.userId, request.keyId) ?? '',
    requested_by_name: request.requestedByName,
    amount_usd: usdFromNanoUsd(request.amountNanoUsd),
    until: toTimestamp(request.untilMs),
    reason: request.reason,
    status: request.status,
    decided_by: personOrKey(request.decidedByUserId, request.decidedByKeyId),
    decided_at: decidedAtMs === null ? null : toTimestamp(decidedAtMs),
    created_at: toTimestamp(request.createdAtMs),
  }
}
