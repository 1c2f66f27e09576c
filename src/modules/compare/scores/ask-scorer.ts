import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../../kernel/clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { OutboundFailed, OutboundRefused, type Outbound } from '../../../outbound/outbound.ts'
import type { Database } from '../../../storage/database.ts'
import { signWebhook } from '../../tasks/tasks.ts'
import type { CellScore } from './cell-scores.ts'
import type { AskScorer, ScoredAnswer } from './score-cell.ts'

const ANSWER_MS_MAX = 15_000
const ANSWER_BYTES_MAX = 64 * 1024
const REASON_LENGTH_MAX = 1_000
const TRIES_MAX = 2

const ScorerAnswer = Type.Object({
  score: Type.Number({ minimum: 0, maximum: 1 }),
  reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})

interface AskScorerOptions {
  readonly database: Database
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly clock: Clock
}

/** Sends an answer to an address of its account, signed like a webhook, and returns the score that it answers. */
export function createAskScorer(options: AskScorerOptions): AskScorer {
  return async (url, scored) => {
    let failure: CellScore = { score: null, reason: null }
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const said = await askOnce(options, url, scored)
      if (said.score !== null) return said
      failure = said
    }
    return failure
  }
}

async function askOnce(
  { database, outbound, clock }: AskScorerOptions,
  url: string,
  scored: ScoredAnswer,
): Promise<CellScore> {
  const atMs = clock.nowMs()
  const body = JSON.stringify(describe(scored))
  try {
    const signed = { accountId: scored.accountId, id: createId(atMs), atMs, body }
    const response = await outbound.fetch({
      url,
      method: 'POST',
      headers: await signWebhook(database, signed),
      body,
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: ANSWER_MS_MAX,
    })
    const parts: Uint8Array[] = []
    for await (const part of response.body) parts.push(part)
    if (response.status < 200 || response.status > 299)
      return failed(`The webhook answered with the status ${response.status}.`)
    const said: unknown = parseJson(Buffer.concat(parts).toString())
    if (!Value.Check(ScorerAnswer, said))
      return failed('The webhook did not answer {"score": a number from 0 to 1}.')
    return { score: said.score, reason: said.reason?.slice(0, REASON_LENGTH_MAX) ?? null }
  } catch (error) {
    const isTold = error instanceof OutboundFailed || error instanceof OutboundRefused
    return failed(isTold ? error.message : 'The webhook did not answer with JSON.')
  }
}

function failed(reason: string): CellScore {
  return { score: null, reason }
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
