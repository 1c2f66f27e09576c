import { isRecord } from '../../../kernel/is-record.ts'
import type { WorstCase } from './estimate-cost.ts'

/** The smallest thinking budget that a vendor accepts. An answer needs at least one more token. */
const BUDGET_TOKENS_MIN = 1_024

/** Members with a thinking budget, as Anthropic and OpenRouter name them. */
const BUDGETS = [
  ['thinking', 'budget_tokens'],
  ['reasoning', 'max_tokens'],
] as const

interface Budget {
  readonly member: string
  readonly name: string
  readonly holder: Readonly<Record<string, unknown>>
  readonly tokens: number
}

function findBudget(body: object): Budget | null {
  for (const [member, name] of BUDGETS) {
    const holder: unknown = Reflect.get(body, member)
    const tokens = isRecord(holder) ? holder[name] : null
    if (isRecord(holder) && typeof tokens === 'number') return { member, name, holder, tokens }
  }
  return null
}

/**
 * Raises the least amount to the smallest budget plus one token, because a vendor refuses a budget that does not fit into the
 * answer.
 */
export function boundThinking(worstCase: WorstCase, body: object): WorstCase {
  const { outputTokensMax, outputNanoUsdPer1m, choices, leastNanoUsd, wantedNanoUsd } = worstCase
  const budget = findBudget(body)
  if (budget === null || budget.tokens >= outputTokensMax) return worstCase
  const tokens = BigInt((BUDGET_TOKENS_MIN + 1) * choices)
  const least = leastNanoUsd + (tokens * outputNanoUsdPer1m) / TOKENS_PER_PRICE + 1n
  return { ...worstCase, leastNanoUsd: least < wantedNanoUsd ? least : wantedNanoUsd }
}

const TOKENS_PER_PRICE = 1_000_000n

/** Returns the budget member for a shortened answer, at the same share of it. Null if there is no budget to shorten. */
export function shortenThinking(
  body: object,
  { fromTokens, toTokens }: { fromTokens: number; toTokens: number },
): readonly [string, object] | null {
  const budget = findBudget(body)
  // A budget that never fitted is the client's mistake; the vendor reports it.
  if (budget === null || budget.tokens >= fromTokens || toTokens <= BUDGET_TOKENS_MIN) return null
  const share = Math.floor((budget.tokens * toTokens) / fromTokens)
  const least = Math.min(budget.tokens, BUDGET_TOKENS_MIN)
  const tokens = Math.min(Math.max(share, least), toTokens - 1)
  return [budget.member, { ...budget.holder, [budget.name]: tokens }]
}
