import type { Cancellation } from '../../../kernel/cancellation.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { ChatMessage } from '../../../wires/openai-chat/chat-request.ts'
import type { Lane, Run } from '../runs/run.ts'
import type { ToldCall } from '../cells/chat-call.ts'
import type { CellKey } from '../cells/cell-writer.ts'
import type { AskScorer } from './ask-scorer.ts'
import type { CellScore, CellScores, ScoredCell } from './cell-scores.ts'
import { compareInThread } from './compare-in-thread.ts'
import type { ScoreOrder } from './score-order.ts'

interface ScoredAnswer {
  readonly accountId: string
  readonly runId: string
  readonly key: CellKey
  readonly lane: Pick<Lane, 'id' | 'name' | 'model'>
  readonly prompt: { readonly messages: readonly ChatMessage[]; readonly expected: unknown }
  /** Null in `latencyMs`: it was answered in a batch, where nobody waits. */
  readonly answer: Pick<ToldCall, 'output' | 'latencyMs' | 'costNanoUsd'>
}

/** How the webhooks of a run are asked. */
interface Asking {
  readonly askScorer: AskScorer
  readonly cancellation: Cancellation
}

/** Computes all scores of an answer. They are its quality where nothing is expected of the prompt. */
export async function scoreAnswer(
  { id, accountId, scores: orders }: Pick<Run, 'id' | 'accountId' | 'scores'>,
  answered: Omit<ScoredAnswer, 'accountId' | 'runId'>,
  { askScorer, cancellation }: Asking,
): Promise<ScoredCell> {
  if (orders.length === 0) return { scores: null, quality: null }
  const scored = { ...answered, accountId, runId: id }
  let text: string | null = null
  const body = (): string => (text ??= JSON.stringify(describe(scored)))
  const ask = (url: string) => askScorer(url, { accountId, body, cancellation })
  const scores = Object.fromEntries(
    await Promise.all(
      orders.map(async (order) => {
        const { score, reason } = await scoreOne(order, scored, ask)
        return [order.name, { score: score === null ? null : round(score), reason }] as const
      }),
    ),
  )
  return { scores, quality: answered.prompt.expected === null ? qualityOf(orders, scores) : null }
}

/** Finer than any score means, and far from what a `real` of the database cannot hold. */
function round(score: number): number {
  return Math.round(score * 1e6) / 1e6
}

function describe({ runId, key, lane, prompt, answer }: ScoredAnswer): unknown {
  return {
    type: 'compare.score',
    run_id: runId,
    prompt_index: key.promptIndex,
    repeat: key.repeat,
    lane_id: lane.id,
    lane_name: lane.name,
    model: lane.model,
    messages: prompt.messages,
    expected: prompt.expected,
    output: answer.output,
    latency_ms: answer.latencyMs,
    cost_usd: usdFromNanoUsd(answer.costNanoUsd),
  }
}

async function scoreOne(
  order: ScoreOrder,
  scored: ScoredAnswer,
  ask: (url: string) => Promise<CellScore>,
): Promise<CellScore> {
  const { answer, accountId, prompt } = scored
  const { output } = answer
  switch (order.type) {
    case 'exact':
    case 'contains':
    case 'similarity': {
      const value = order.value ?? expectedText(prompt.expected)
      if (value === null) return { score: null, reason: 'Nothing is expected of the prompt.' }
      return decided(await compareInThread({ type: order.type, value, output }, accountId))
    }
    case 'regex': {
      const { type, value, flags } = order
      return decided(await compareInThread({ type, value, flags: flags ?? '', output }, accountId))
    }
    case 'json_schema': {
      const value = JSON.stringify(order.schema)
      return decided(await compareInThread({ type: 'json_schema', value, output }, accountId))
    }
    case 'latency':
      return answer.latencyMs === null ? NO_LATENCY : decided(answer.latencyMs <= order.max_ms)
    case 'cost':
      return decided(Number(answer.costNanoUsd) <= order.max_usd * NANO)
    case 'webhook':
      return ask(order.url)
  }
}

const NO_LATENCY: CellScore = { score: null, reason: 'An answer of a batch has no latency to compare.' }
const NANO = 1e9

function decided(result: boolean | number | null): CellScore {
  if (result === null) return { score: null, reason: 'It could not be decided in time.' }
  return { score: Number(result), reason: null }
}

/** The text that a prompt expects, if it expects one. */
function expectedText(expected: unknown): string | null {
  if (typeof expected === 'string') return expected
  const value: unknown = isRecord(expected) ? expected['value'] : null
  return typeof value === 'string' ? value : null
}

/** How good the answer is by these scores: time and cost are no part of that. Null without any. */
function qualityOf(orders: readonly ScoreOrder[], scores: CellScores): number | null {
  const known = orders.flatMap(({ name, type }) => {
    const score = scores[name]?.score ?? null
    return type === 'latency' || type === 'cost' || score === null ? [] : [score]
  })
  return known.length === 0 ? null : round(known.reduce((sum, score) => sum + score, 0) / known.length)
}
