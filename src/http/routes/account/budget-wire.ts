import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { ReachedThresholds } from '../../../modules/budget-alerts/budget-alerts.ts'
import type { Budget, WeekdayComparison } from '../../../modules/usage/usage.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import { LimitingBudgetAnswer, limitingBudgetToWire } from './limiting-budget-wire.ts'
import { OutlookAnswer, outlookToWire } from './outlook-wire.ts'
import { AnomalyAnswer, comparisonToWire } from './usage-anomalies.ts'

const Time = Type.String({ format: 'date-time' })

export const BudgetAnswer = Type.Object({
  object: objectName('usage.budget'),
  tenant_id: AccountId,
  limit_usd: orNull(
    Type.Number(),
    'The budget of the month; without one, `spent_usd` plus the balance. Of a key without `manage`: all that it may spend, null for no limit.',
  ),
  spent_usd: Type.Number({ description: 'Spent in this month of UTC.' }),
  remaining_usd: orNull(
    Type.Number(),
    'What can be spent from now on, by the balance and by every budget of the account. Of a key without `manage`: by its own limit and by all budgets that limit it. Null for no limit.',
  ),
  held_usd: orNull(
    Type.Number(),
    'The part of `remaining_usd` set aside for work in progress. Null for a key without `manage`.',
  ),
  balance_usd: orNull(Type.Number(), 'The balance of the account. Null for a key without `manage`.'),
  burn_rate_usd_per_hour: Type.Number({ description: 'Spent in the last sixty minutes.' }),
  period_start: described(Time, 'Where the period begins, in UTC.'),
  period_end: described(Time, 'Where the period ends, in UTC.'),
  budgets: Type.Array(
    Type.Object({
      period: Type.Enum(['day', 'month'], { description: 'The period of the budget: `day` or `month`.' }),
      limit_usd: Type.Number({ description: 'The limit in US dollars.' }),
      spent_usd: Type.Number({ description: 'What is spent of it, in US dollars.' }),
      alerted_percent: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The highest threshold that has raised an alert in this period. Null for none.',
      }),
    }),
    { description: 'The budgets that operators set for the account.' },
  ),
  limiting_budgets: Type.Array(LimitingBudgetAnswer, {
    description:
      'The budgets of the organization that requests with this key have to fit into: those of the account, of its project, person, groups, service account and fixed tags, and its own. Budgets that only warn, or that count some models only, are not among them.',
  }),
  outlook: OutlookAnswer,
  forecast: orNull(
    Type.Object(
      {
        spent_usd: Type.Number({ description: 'What the month will probably have cost at its end.' }),
        low_usd: Type.Number({ description: 'The lower end of the interval.' }),
        high_usd: Type.Number({ description: 'The upper end of the interval.' }),
        confidence: Type.Number({ description: 'How often the sum is within the interval, from 0 to 1.' }),
        days: Type.Integer({ description: 'From how many whole days before today it is told.' }),
      },
      { title: 'UsageForecast' },
    ),
    'What `spent_usd` will be at the end of the month if days go on as they were. Null before three whole days of history.',
  ),
  anomaly: orNull(AnomalyAnswer, 'What is unusual about the day so far. `null` if nothing is.'),
  updated_at: Type.String({ format: 'date-time', description: 'When these amounts were read.' }),
  version: Type.Integer({
    description:
      'The same number means that no amount but the burn rate, and what follows from it, has changed.',
  }),
})

export function budgetToWire(
  accountId: string,
  {
    budget,
    reached,
    compared,
  }: {
    readonly budget: Budget
    readonly reached: ReachedThresholds
    readonly compared: WeekdayComparison
  },
): Static<typeof BudgetAnswer> {
  return {
    object: 'usage.budget',
    tenant_id: accountId,
    limit_usd: usdOrNull(budget.limitNanoUsd),
    spent_usd: usdFromNanoUsd(budget.spentNanoUsd),
    remaining_usd: usdOrNull(budget.remainingNanoUsd),
    held_usd: usdOrNull(budget.heldNanoUsd),
    balance_usd: usdOrNull(budget.balanceNanoUsd),
    burn_rate_usd_per_hour: usdFromNanoUsd(budget.burnRateNanoUsdPerHour),
    period_start: toTimestamp(budget.month.fromMs),
    period_end: toTimestamp(budget.month.toMs),
    budgets: budget.budgets.map(({ period, limitNanoUsd, spentNanoUsd }) => ({
      period,
      limit_usd: usdFromNanoUsd(limitNanoUsd),
      spent_usd: usdFromNanoUsd(spentNanoUsd),
      alerted_percent: reached[period],
    })),
    limiting_budgets: budget.limiting.map(limitingBudgetToWire),
    outlook: outlookToWire(budget.outlook),
    forecast:
      budget.forecast === null
        ? null
        : {
            spent_usd: usdFromNanoUsd(budget.forecast.spentNanoUsd),
            low_usd: usdFromNanoUsd(budget.forecast.lowNanoUsd),
            high_usd: usdFromNanoUsd(budget.forecast.highNanoUsd),
            confidence: budget.forecast.confidence,
            days: budget.forecast.days,
          },
    anomaly: comparisonToWire(compared).anomaly,
    updated_at: toTimestamp(budget.readAtMs),
    version: budget.version,
  }
}

function usdOrNull(amount: NanoUsd | null): number | null {
  return amount === null ? null : usdFromNanoUsd(amount)
}
