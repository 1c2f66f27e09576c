import { AppError } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { formatUsd, type NanoUsd } from '../../../kernel/money.ts'
import { parseSubject } from '../budgets/subject.ts'
import type { WindowPeriod } from '../budgets/budget-window.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import type { Cap, CappedBudget } from './lend-credit.ts'

interface Shortage {
  readonly neededNanoUsd: NanoUsd
  readonly leftNanoUsd: NanoUsd
}

/** The error for a cap that has too little room: which one it is, how much is left, and when it starts again. */
export function capReached(cap: Cap, { neededNanoUsd, leftNanoUsd }: Shortage): AppError {
  const limit = formatUsd(cap.limitNanoUsd)
  const amounts = `${formatUsd(neededNanoUsd)} USD needed, ${formatUsd(leftNanoUsd > 0n ? leftNanoUsd : 0n)} USD left.`
  if (cap.scope.startsWith('key:'))
    return new AppError('key_limit_reached', `The key's limit of ${limit} USD is reached: ${amounts}`)
  if (cap.budget === undefined) {
    const period = cap.scope.startsWith('day:') ? 'daily' : 'monthly'
    return new AppError(
      'insufficient_balance',
      `The account's ${period} budget of ${limit} USD is reached: ${amounts}`,
    )
  }
  return budgetExceeded(cap.budget, { limit, amounts })
}

/** Whether credit or room in a budget is missing, so that a retry does not help. */
export function isRefusal(error: unknown): boolean {
  return error instanceof AppError && REFUSALS.has(error.code)
}

export const REFUSAL_CODES = ['key_limit_reached', 'insufficient_balance', 'budget_exceeded'] as const
const REFUSALS: ReadonlySet<string> = new Set(REFUSAL_CODES)

const PERIOD_WORDS: Readonly<Record<WindowPeriod, string>> = {
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  total: 'total',
}

const SUBJECT_WORDS: Readonly<Record<ReturnType<typeof parseSubject>['kind'], string>> = {
  account: 'account',
  project: 'project',
  group: 'group',
  user: 'person',
  service_account: 'service account',
  key: 'key',
  tag: 'tag',
}

function budgetExceeded(
  { id, subject, period, resetsAtMs }: CappedBudget,
  { limit, amounts }: { readonly limit: string; readonly amounts: string },
): AppError {
  const { kind, value } = parseSubject(subject)
  const name = kind === 'tag' ? `tag ${value}` : SUBJECT_WORDS[kind]
  const again =
    resetsAtMs === null ? 'It does not start again.' : `It starts again at ${toTimestamp(resetsAtMs)}.`
  return new AppError(
    'budget_exceeded',
    `The ${PERIOD_WORDS[period]} budget of ${limit} USD of the ${name} is reached: ${amounts} ${again}`,
    { headers: { 'x-gateway-budget': wireId('budget', id) } },
  )
}
