import { isRecord } from '../../../kernel/is-record.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { priceTokens, type CatalogModel } from '../../catalog/catalog.ts'
import { planQuestions } from '../../judging/judging.ts'
import type { LaneOrder, RunOrder } from './new-run.ts'
import type { PromptCase } from '../prompt-case.ts'

export interface RunEstimate {
  /** With the judge. */
  readonly costNanoUsd: NanoUsd
  readonly judgeCostNanoUsd: NanoUsd
  readonly durationMs: number
}

type EstimatedOrder = Pick<
  RunOrder,
  'prompts' | 'lanes' | 'repeats' | 'concurrency' | 'judge' | 'budgetNanoUsd'
>

interface EstimatedModels {
  /** Of each lane, in their order. */
  readonly lanes: readonly CatalogModel[]
  readonly judge: CatalogModel | null
}

interface WorkEstimate {
  readonly costNanoUsd: NanoUsd
  readonly durationMs: number
}

/** Usual output tokens of an answer without a limit. */
const OUTPUT_TOKENS_GUESS = 400
const CHARACTERS_PER_TOKEN = 4
const TOKENS_PER_MESSAGE = 4
/** Of a usual model: time to the first token, and time per further token. */
const FIRST_TOKEN_MS_GUESS = 800
const TOKEN_MS_GUESS = 15

/** Estimates the cost and duration of a run. The estimate limits nothing. */
export function estimateRun(order: EstimatedOrder, models: EstimatedModels): RunEstimate {
  const cells = estimateCells(order, models.lanes)
  const judge = models.judge === null ? NO_WORK : estimateJudge(order, models.judge)
  return {
    costNanoUsd: cells.costNanoUsd + judge.costNanoUsd,
    judgeCostNanoUsd: judge.costNanoUsd,
    durationMs: cells.durationMs + judge.durationMs,
  }
}

const NO_WORK: WorkEstimate = { costNanoUsd: 0n, durationMs: 0 }

function estimateCells(
  { prompts, lanes, repeats, concurrency }: EstimatedOrder,
  models: readonly CatalogModel[],
): WorkEstimate {
  const promptTokens = prompts.map(estimatePromptTokens)
  let costNanoUsd = 0n
  let workMs = 0
  for (const [position, lane] of lanes.entries()) {
    const outputTokens = estimateOutputTokens(lane)
    const systemTokens = tokensOf(lane.params['system'])
    for (const tokens of promptTokens)
      costNanoUsd += priceCall(models[position], tokens + systemTokens, outputTokens) * BigInt(repeats)
    workMs += prompts.length * repeats * estimateCallMs(outputTokens)
  }
  const atOnce = Math.min(concurrency, prompts.length * lanes.length * repeats)
  return { costNanoUsd, durationMs: workMs / Math.max(1, atOnce) }
}

/** The judge starts after the cells and asks about several prompts at once, unless the run has a budget. */
function estimateJudge(order: EstimatedOrder, model: CatalogModel): WorkEstimate {
  const { prompts, lanes, repeats, concurrency, judge, budgetNanoUsd } = order
  if (judge === null) return NO_WORK
  const outputCharacters = lanes.map((lane) => estimateOutputTokens(lane) * CHARACTERS_PER_TOKEN)
  let costNanoUsd = 0n
  let workMs = 0
  for (const questions of planQuestions(judge, { prompts, outputCharacters })) {
    const { count, rounds, promptCharacters, answerTokens } = questions
    const promptTokens = Math.ceil(promptCharacters / CHARACTERS_PER_TOKEN)
    costNanoUsd += priceCall(model, promptTokens, answerTokens) * BigInt(count * repeats)
    workMs += rounds * repeats * estimateCallMs(answerTokens)
  }
  const atOnce = budgetNanoUsd === null ? Math.min(concurrency, prompts.length * repeats) : 1
  return { costNanoUsd, durationMs: workMs / Math.max(1, atOnce) }
}

function estimateCallMs(outputTokens: number): number {
  return FIRST_TOKEN_MS_GUESS + outputTokens * TOKEN_MS_GUESS
}

function priceCall(model: CatalogModel | undefined, promptTokens: number, completionTokens: number): NanoUsd {
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
