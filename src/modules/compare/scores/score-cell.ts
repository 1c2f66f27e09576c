import { isRecord } from '../../../kernel/is-record.ts'
import type { ChatMessage } from '../../../wires/openai-chat/chat-request.ts'
import type { Lane, Run } from '../runs/run.ts'
import type { ChatAnswer } from '../cells/ask-chat.ts'
import type { CellKey } from '../cells/cell-writer.ts'
import type { CellScore, CellScores, ScoredCell } from './cell-scores.ts'
import { compareInThread } from './compare-in-thread.ts'
import type { ScoreOrder } from './score-order.ts'

export interface ScoredAnswer {
  readonly accountId: string
  readonly runId: string
  readonly key: CellKey
  readonly lane: Pick<Lane, 'id' | 'name' | 'model'>
  readonly prompt: { readonly messages: readonly ChatMessage[]; readonly expected: unknown }
  readonly answer: Pick<ChatAnswer, 'output' | 'latencyMs' | 'costNanoUsd'>
}

/** Asks an address of the account. Never throws. */
export type AskScorer = (url: string, scored: ScoredAnswer) => Promise<CellScore>

/** Computes all scores of an answer. They are its quality where nothing is expected of the prompt. */
export async function scoreAnswer(
  { id, accountId, scores: orders }: Pick<Run, 'id' | 'accountId' | 'scores'>,
  answered: Omit<ScoredAnswer, 'accountId' | 'runId'>,
  askScorer: AskScorer,
): Promise<ScoredCell> {
  if (orders.length === 0) return { scores: null, quality: null }
  const scored = { ...answered, accountId, runId: id }
  const scores = Object.fromEntries(
    await Promise.all(
      orders.map(async (order) => [order.name, await scoreOne(order, scored, askScorer)] as const),
    ),
  )
  return { scores, quality: answered.prompt.expected === null ? qualityOf(orders, scores) : null }
}

async function scoreOne(order: ScoreOrder, scored: ScoredAnswer, askScorer: AskScorer): Promise<CellScore> {
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
      return decided(answer.latencyMs <= order.max_ms)
    case 'cost':
      return decided(Number(answer.costNanoUsd) <= order.max_usd * NANO)
    case 'webhook':
      return askScorer(order.url, scored)
  }
}

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
  return known.length === 0 ? null : known.reduce((sum, score) => sum + score, 0) / known.length
}
