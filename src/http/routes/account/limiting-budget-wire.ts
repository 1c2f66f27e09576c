import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { BUDGET_PERIODS, parseSubject, type LimitingBudget } from '../../../modules/ledger/ledger.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { SubjectAnswer, subjectToWire } from '../organization/budget-wire.ts'

/** A budget of the organization that requests of the caller have to fit into. */
export const LimitingBudgetAnswer = Type.Object(
  {
    id: Type.String({ description: 'The id of the budget.' }),
    name: Type.String({ description: 'What it is called in sentences: `monthly budget of the project`.' }),
    subject: SubjectAnswer,
    window: Type.Enum([...BUDGET_PERIODS], {
      description: 'Days, weeks from Monday and months of UTC, or all time.',
    }),
    limit_usd: Type.Number({
      description: 'What may be spent in one window, with the raise if there is one.',
    }),
    spent_usd: Type.Number({ description: 'What was spent in the present window.' }),
    resets_at: orNull(
      Type.String({ format: 'date-time' }),
      'When the next window begins. Null for a budget of all time.',
    ),
  },
  { title: 'LimitingBudget' },
)

export function limitingBudgetToWire(budget: LimitingBudget): Static<typeof LimitingBudgetAnswer> {
  return {
    id: wireId('budget', budget.id),
    name: nameOfBudget(budget),
    subject: subjectToWire(parseSubject(budget.subject)),
    window: budget.period,
    limit_usd: usdFromNanoUsd(budget.limitNanoUsd),
    spent_usd: usdFromNanoUsd(budget.spentNanoUsd),
    resets_at: budget.resetsAtMs === null ? null : toTimestamp(budget.resetsAtMs),
  }
}

const PERIOD_WORDS = { day: 'daily', week: 'weekly', month: 'monthly', total: 'total' } as const

const SUBJECT_WORDS = {
  account: 'the account',
  project: 'the project',
  group: 'the group',
  user: 'this person',
  service_account: 'this service account',
  key: 'this key',
} as const

export function nameOfBudget({ subject, period }: Pick<LimitingBudget, 'subject' | 'period'>): string {
  const { kind, value } = parseSubject(subject)
  const whose = kind === 'tag' ? `the tag ${value}` : SUBJECT_WORDS[kind]
  return `${PERIOD_WORDS[period]} budget of ${whose}`
}
