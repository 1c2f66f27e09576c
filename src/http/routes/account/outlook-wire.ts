import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { DAY_MS, HOUR_MS, type Outlook, type OutlookLimit } from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'
import { LimitingBudgetAnswer, limitingBudgetToWire, nameOfBudget } from './limiting-budget-wire.ts'

const Time = Type.String({ format: 'date-time' })

export const OutlookAnswer = Type.Object(
  {
    summary: Type.String({
      description: 'The same as a sentence: which limit is reached first, when, and when it starts again.',
    }),
    limit: orNull(
      Type.Enum(['balance', 'day', 'month', 'key', 'parent_key', 'budget']),
      'What ends spending first: the balance, the budget of the day or the month, the limit of the key or of the key that it comes from (`parent_key`), or a `budget` of the organization. Null if nothing does within a year, or before it starts again.',
    ),
    budget: orNull(
      LimitingBudgetAnswer,
      'The budget of the organization that is reached first. Null for every other limit.',
    ),
    reached_at: orNull(Time, 'When it is reached. From then on requests that cost something are refused.'),
    resets_at: orNull(
      Time,
      'When requests are taken again by themselves. Null for a balance, a key and a budget of all time.',
    ),
    balance_lasts_until: orNull(
      Time,
      'How long the balance lasts at this rate, with no more a day than the daily budgets of the account. Null for more than a year, and for a key without `manage`.',
    ),
  },
  {
    title: 'Outlook',
    description:
      'What ends spending first if it goes on as in the last sixty minutes, whatever is filtered by.',
  },
)

export function outlookToWire(outlook: Outlook): Static<typeof OutlookAnswer> {
  return {
    summary: describeOutlook(outlook),
    limit: outlook.limit,
    budget: outlook.budget === null ? null : limitingBudgetToWire(outlook.budget),
    reached_at: timeOrNull(outlook.reachedAtMs),
    resets_at: timeOrNull(outlook.resetsAtMs),
    balance_lasts_until: timeOrNull(outlook.balanceLastsUntilMs),
  }
}

const NAMES: Readonly<Record<Exclude<OutlookLimit, 'budget'>, string>> = {
  balance: 'balance',
  day: 'budget of today',
  month: 'budget of this month',
  key: 'limit of this key',
  parent_key: 'limit of the key that this one comes from',
}

function nameOfLimit({ limit, budget }: Outlook): string | null {
  if (budget !== null) return nameOfBudget(budget)
  return limit === null || limit === 'budget' ? null : NAMES[limit]
}

function describeOutlook(outlook: Outlook): string {
  const name = nameOfLimit(outlook)
  const { reachedAtMs, resetsAtMs, balanceLastsUntilMs, rateNanoUsdPerHour, readAtMs } = outlook
  if (name === null || reachedAtMs === null)
    return rateNanoUsdPerHour === 0n
      ? 'Nothing was spent in the last hour.'
      : 'At the rate of the last hour no limit is reached within a year.'
  const again = resetsAtMs === null ? '' : ` until it starts again at ${clockText(resetsAtMs, readAtMs)}`
  if (reachedAtMs <= readAtMs) return `The ${name} is spent. Requests are refused${again}.`
  const left = lengthText(reachedAtMs - readAtMs)
  if (resetsAtMs === null) return `At the rate of the last hour the ${name} lasts ${left}.`
  const balance =
    balanceLastsUntilMs === null ? '' : ` The balance lasts ${lengthText(balanceLastsUntilMs - readAtMs)}.`
  return `At the rate of the last hour the ${name} is spent in ${left}; requests are then refused${again}.${balance}`
}

function lengthText(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.floor(ms / DAY_MS)} days`
  if (ms >= 2 * HOUR_MS) return `${Math.floor(ms / HOUR_MS)} h`
  return `${Math.max(1, Math.floor(ms / 60_000))} min`
}

/** `00:00 UTC`, or with its date where that is not the next midnight. */
function clockText(atMs: number, nowMs: number): string {
  const text = new Date(atMs).toISOString()
  const day = atMs - nowMs > DAY_MS ? `${text.slice(0, 10)} ` : ''
  return `${day}${text.slice(11, 16)} UTC`
}

function timeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : toTimestamp(atMs)
}
