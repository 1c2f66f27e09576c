import { isRecord } from '../../kernel/is-record.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { priceTokens, type CatalogModel } from '../catalog/catalog.ts'
import type { LaneOrder, RunOrder } from './new-run.ts'
import type { PromptCase } from './prompt-case.ts'

export interface RunEstimate {
  readonly costNanoUsd: NanoUsd
  readonly durationMs: number
  /** Of one cell of each lane, in their order. */
  readonly cellCostsNanoUsd: readonly NanoUsd[]
}

/** What answers usually take when nothing limits them. */
const OUTPUT_TOKENS_GUESS = 400
const CHARACTERS_PER_TOKEN = 4
const TOKENS_PER_MESSAGE = 4
/** Of a usual model: until its first token, and for every further one. */
const FIRST_TOKEN_MS_GUESS = 800
const TOKEN_MS_GUESS = 15

/** About what a run will cost and how long it will take. Nothing is held to it. */
export function estimateRun(
  order: Pick<RunOrder, 'prompts' | 'lanes' | 'repeats' | 'concurrency'>,
  models: readonly CatalogModel[],
): RunEstimate {
  const { prompts, lanes, repeats, concurrency } = order
  const promptTokens = prompts.map(estimatePromptTokens)
  let costNanoUsd = 0n
  let workMs = 0
  const cellCosts: NanoUsd[] = []
  for (const [position, lane] of lanes.entries()) {
    const outputTokens = estimateOutputTokens(lane)
    const systemTokens = tokensOf(lane.params['system'])
    let laneCost = 0n
    for (const tokens of promptTokens)
      laneCost += priceCell(models[position], tokens + systemTokens, outputTokens)
    costNanoUsd += laneCost * BigInt(repeats)
    cellCosts.push(laneCost / BigInt(Math.max(1, prompts.length)))
    workMs += prompts.length * repeats * (FIRST_TOKEN_MS_GUESS + outputTokens * TOKEN_MS_GUESS)
  }
  const atOnce = Math.min(concurrency, prompts.length * lanes.length * repeats)
  return { costNanoUsd, durationMs: workMs / Math.max(1, atOnce), cellCostsNanoUsd: cellCosts }
}

function priceCell(model: CatalogModel | undefined, promptTokens: number, completionTokens: number): NanoUsd {
  if (model === undefined) return 0n
  const { price } = model
  return price.unit === 'token'
    ? priceTokens(price, { promptTokens, cachedTokens: 0, completionTokens })
    : price.nanoUsdPerUnit
}

function estimatePromptTokens({ messages }: PromptCase): number {
  return messages.reduce((sum, { content }) => sum + TOKENS_PER_MESSAGE + tokensOf(content), 0)
}

function tokensOf(content: unknown): number {
  if (typeof content === 'string') return Math.ceil(content.length / CHARACTERS_PER_TOKEN)
  if (!Array.isArray(content)) return 0
  return content.reduce<number>((sum, part) => sum + tokensOf(isRecord(part) ? part['text'] : null), 0)
}

function estimateOutputTokens({ params }: LaneOrder): number {
  const limit = params['max_completion_tokens'] ?? params['max_tokens']
  return typeof limit === 'number' ? Math.min(limit, OUTPUT_TOKENS_GUESS) : OUTPUT_TOKENS_GUESS
}
