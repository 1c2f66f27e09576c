import { Type, type Static } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { WEBHOOK_FORMS } from '../../../kernel/webhook-form.ts'
import { limitNow, type Budget, type BudgetChanges } from '../../../modules/budgets/budgets.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import {
  BUDGET_PERIODS,
  SUBJECT_KINDS,
  type Subject,
  type SubjectKind,
} from '../../../modules/ledger/ledger.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, Id, objectName } from '../../../wires/usual-members.ts'
import { maskWebhook } from '../../answers/mask-webhook.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'

export const TEXT = '^[^\\u0000-\\u001f\\u007f]*$'
export const Time = Type.String({ format: 'date-time' })
export const CLOSED = { additionalProperties: false }

export const SubjectAnswer = Type.Object(
  {
    type: Type.Enum([...SUBJECT_KINDS], { description: 'What kind of thing the budget is about.' }),
    id: orNull(Type.String(), 'Its id; of a tag `name=value`. Null for the account.'),
  },
  { description: 'Whose spending it limits.' },
)

const SubjectWire = Type.Object(
  {
    type: Type.Enum([...SUBJECT_KINDS], { description: 'What kind of thing the budget is about.' }),
    id: orNull(
      Type.String({ maxLength: 256 }),
      'Its id; of a tag `name=value`. Null or absent for `account`.',
    ),
  },
  CLOSED,
)

const RaiseAnswer = Type.Object({
  amount_usd: Type.Number({ description: 'What may be spent beside the limit.' }),
  until: Type.String({ format: 'date-time', description: 'When the raise ends.' }),
})

const Webhook = Type.Object(
  {
    url: Type.String({ maxLength: 2_048, description: 'Called for each alert.' }),
    form: Type.Enum([...WEBHOOK_FORMS], {
      description:
        '`parkway` is our own event; `slack` and `teams` are messages for an incoming webhook there.',
    }),
  },
  CLOSED,
)

export const PERSONS_MAX = 20
export const EmailAddress = Type.String({ maxLength: 254, pattern: '^[^\\s@<>,;:?&%]+@[^\\s@<>,;:?&%]+$' })
const THRESHOLDS_MAX = 10

const settings = {
  is_hard: Type.Boolean({
    description: 'Whether requests that do not fit are refused. Otherwise the budget only warns.',
  }),
  thresholds_percent: Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
    maxItems: THRESHOLDS_MAX,
    uniqueItems: true,
    description: 'Parts of the limit that raise an alert, once in each window.',
  }),
  webhook: orNull(
    Webhook,
    'Called for each alert. Null: that of the account, if it has one. Who may not change the budget sees only its host.',
  ),
  email_recipients: Type.Array(EmailAddress, {
    maxItems: PERSONS_MAX,
    description:
      'Who gets a mail for each alert, where the operator has set up mail. Only members of the account get one.',
  }),
}

export const BudgetAnswer = Type.Object(
  {
    id: Id,
    object: objectName('organization.budget'),
    subject: SubjectAnswer,
    models: orNull(Type.Array(Type.String()), 'Only requests to these models count. Null: all.'),
    window: Type.Enum([...BUDGET_PERIODS], {
      description: 'Days, weeks from Monday and months of UTC, or all time.',
    }),
    limit_usd: Type.Number({ description: 'What may be spent in one window.' }),
    ...settings,
    spent_usd: Type.Number({ description: 'What was spent in the present window.' }),
    remaining_usd: Type.Number({ description: 'What is left of the limit and the raise.' }),
    window_started_at: Type.String({ format: 'date-time', description: 'When the present window began.' }),
    resets_at: orNull(Time, 'When the next window begins. Null: never.'),
    raise: orNull(RaiseAnswer, 'What may be spent beside the limit for a while.'),
    level: Type.Enum(['account', 'project', 'personal'], {
      description:
        'Who may change it: who manages the account, who manages the project, or the person that it is about.',
    }),
    created_at: CreatedAt,
    created_by: orNull(Type.String(), 'The person, or the key of no person, that made it.'),
  },
  { title: 'Budget' },
)

const LimitUsd = Type.Number({
  minimum: 0,
  maximum: USD_MAX,
  description: 'What may be spent in one window.',
})

const optionalSettings = {
  is_hard: Type.Optional(settings.is_hard),
  thresholds_percent: Type.Optional(settings.thresholds_percent),
  webhook: Type.Optional(settings.webhook),
  email_recipients: Type.Optional(settings.email_recipients),
}

// Unknown members are refused, so that a misspelt limit is not ignored.
export const NewBudgetBody = Type.Object(
  {
    subject: Type.Object(
      { type: SubjectWire.properties.type, id: Type.Optional(SubjectWire.properties.id) },
      { ...CLOSED, description: 'Whose spending it limits.' },
    ),
    models: Type.Optional(
      orNull(
        Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: TEXT }), {
          minItems: 1,
          maxItems: 100,
        }),
        'Only requests to these models count. A name means the model that answers to it now, which the answer names. Null: all.',
      ),
    ),
    window: Type.Enum([...BUDGET_PERIODS], {
      description: 'Days, weeks from Monday and months of UTC, or all time.',
    }),
    limit_usd: LimitUsd,
    ...optionalSettings,
  },
  {
    ...CLOSED,
    examples: [
      { subject: { type: 'account' }, window: 'month', limit_usd: 500, thresholds_percent: [50, 80, 95] },
    ],
  },
)

export const BudgetChangesBody = Type.Object(
  { limit_usd: Type.Optional(LimitUsd), ...optionalSettings },
  { ...CLOSED, examples: [{ limit_usd: 750 }] },
)

export const AmountUsd = Type.Number({
  exclusiveMinimum: 0,
  maximum: USD_MAX,
  description: 'What may be spent beside the limit.',
})
export const Until = Type.String({
  format: 'date-time',
  description: 'When the raise ends, at most a year ahead.',
})

export const RaiseBody = Type.Object(
  { amount_usd: AmountUsd, until: Until },
  { ...CLOSED, examples: [{ amount_usd: 50, until: '2030-01-31T00:00:00Z' }] },
)
/** How the id of a subject is written. Keys have plain ids, and tags none. */
const ID_KINDS = {
  project: 'project',
  group: 'group',
  user: 'user',
  service_account: 'serviceAccount',
} as const

/** Throws for an id that no subject of this kind can have. */
export function parseSubjectWire(
  kind: SubjectKind,
  id: string | null | undefined,
  accountId: string,
): Subject {
  const value = id ?? null
  if (kind === 'account') {
    if (value === null || parseWireId('organization', value) === accountId) return { kind, value: null }
    throw notFound('account')
  }
  if (value === null) throw invalidValue('subject.id', `subject.id is missing: which ${kind}?`)
  if (kind === 'tag') return { kind, value }
  const parsed = parseWireId(kind === 'key' ? 'project' : ID_KINDS[kind], value)
  if (parsed === null) throw notFound(kind.replace('_', ' '))
  return { kind, value: parsed }
}

export function subjectToWire({ kind, value }: Subject): { type: SubjectKind; id: string | null } {
  if (kind === 'account' || kind === 'tag' || kind === 'key' || value === null)
    return { type: kind, id: value }
  return { type: kind, id: wireId(ID_KINDS[kind], value) }
}

/** Only people who may change a webhook see its whole address. */
export function budgetToWire(budget: Budget, caller: Caller): Static<typeof BudgetAnswer> {
  const left = limitNow(budget) - budget.spentNanoUsd
  const { raise, webhook } = budget
  return {
    id: wireId('budget', budget.id),
    object: 'organization.budget',
    subject: subjectToWire(budget.subject),
    models: budget.models === null ? null : [...budget.models],
    window: budget.period,
    limit_usd: usdFromNanoUsd(budget.limitNanoUsd),
    is_hard: budget.isHard,
    thresholds_percent: [...budget.thresholdsPercent],
    webhook: webhook && (mayChange(caller, budget) ? webhook : { ...webhook, url: maskWebhook(webhook.url) }),
    email_recipients: [...budget.emailRecipients],
    spent_usd: usdFromNanoUsd(budget.spentNanoUsd),
    remaining_usd: usdFromNanoUsd(left > 0n ? left : 0n),
    window_started_at: toTimestamp(budget.windowStartMs),
    resets_at: budget.resetsAtMs === null ? null : toTimestamp(budget.resetsAtMs),
    raise:
      raise === null
        ? null
        : { amount_usd: usdFromNanoUsd(raise.amountNanoUsd), until: toTimestamp(raise.untilMs) },
    level: budget.level,
    created_at: toTimestamp(budget.createdAtMs),
    created_by: personOrKey(budget.createdByUserId, budget.createdByKeyId),
  }
}

function mayChange({ permissions, userId, keyId, projectId }: Caller, budget: Budget): boolean {
  const manages = permissions.has('budgets.manage') || permissions.has('gateway.manage')
  if (manages && (projectId === null || budget.level !== 'account')) return true
  const { createdByUserId, createdByKeyId } = budget
  return (
    budget.level === 'personal' &&
    (createdByUserId === null ? createdByKeyId === keyId : createdByUserId === userId)
  )
}

export function changesFromWire(body: Static<typeof BudgetChangesBody>): BudgetChanges {
  const { limit_usd: limit, is_hard: isHard, thresholds_percent: thresholds, webhook } = body
  const { email_recipients: recipients } = body
  return {
    ...(limit !== undefined && { limitNanoUsd: parseUsd('limit_usd', limit) }),
    ...(isHard !== undefined && { isHard }),
    ...(thresholds !== undefined && { thresholdsPercent: thresholds.toSorted((a, b) => a - b) }),
    ...(webhook !== undefined && { webhook }),
    ...(recipients !== undefined && { emailRecipients: recipients }),
  }
}

/** How whoever did something is told: a person, or a key of no person. */
export function personOrKey(userId: string | null, keyId: string | null): string | null {
  return userId === null ? keyId : wireId('user', userId)
}
