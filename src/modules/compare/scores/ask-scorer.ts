import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import { FairTurns } from '../../../kernel/turns/fair-turns.ts'
import { OutboundFailed, OutboundRefused, type Outbound } from '../../../outbound/outbound.ts'
import { signWebhook, type WebhookSecrets } from '../../tasks/tasks.ts'
import type { CellScore } from './cell-scores.ts'

const ANSWER_MS_MAX = 15_000
const ANSWER_BYTES_MAX = 64 * 1024
const BODY_BYTES_MAX = 1024 * 1024
const REASON_LENGTH_MAX = 1_000
const TRIES_MAX = 2
const PAUSE_MS = 1_000
const CALLS_AT_ONCE = 32
const ACCOUNT_CALLS_AT_ONCE = 8
const ACCOUNT_WAITING_MAX = 10_000

const ScorerAnswer = Type.Object({
  score: Type.Number({ minimum: 0, maximum: 1 }),
  reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})

/** One answer that an address of its account scores. */
interface ScorerQuestion {
  readonly accountId: string
  /** Describes the answer as JSON. All addresses get the same text. */
  readonly body: () => string
  readonly cancellation: Cancellation
}

/** Asks an address of the account. Never throws. */
export type AskScorer = (url: string, question: ScorerQuestion) => Promise<CellScore>

interface AskScorerOptions {
  readonly webhookSecrets: Pick<WebhookSecrets, 'readSigning'>
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly clock: Clock
}

/** Sends an answer to an address of its account, signed like a webhook, and returns the score that it answers. */
export function createAskScorer(options: AskScorerOptions): AskScorer {
  const turns = new FairTurns({
    runningMax: CALLS_AT_ONCE,
    ownerRunningMax: ACCOUNT_CALLS_AT_ONCE,
    ownerWaitingMax: ACCOUNT_WAITING_MAX,
  })
  return async (url, question) => {
    const { accountId, cancellation } = question
    for (let tries = 1; ; tries += 1) {
      const said = await (turns.take(accountId, () => askOnce(options, url, question)) ?? TOO_MANY)
      if (said.mayPass !== true || tries === TRIES_MAX) return said.score
      await delay(PAUSE_MS, undefined, { signal: cancellation.signal }).catch(() => {})
      if (cancellation.isCancelled) return said.score
    }
  }
}

interface Said {
  readonly score: CellScore
  /** Another try may succeed. */
  readonly mayPass?: boolean
}

const TOO_MANY = failed('Too many answers of the account wait for a webhook.')

async function askOnce(options: AskScorerOptions, url: string, question: ScorerQuestion): Promise<Said> {
  const { outbound } = options
  const { cancellation } = question
  if (cancellation.isCancelled) return failed(STOPPED)
  const body = question.body()
  if (Buffer.byteLength(body) > BODY_BYTES_MAX) return failed('The answer is too long for a webhook.')
  const headers = await sign(options, question.accountId, body)
  if (headers === null) return failed('The request to the webhook could not be signed.', true)
  try {
    const response = await outbound.fetch({
      url,
      method: 'POST',
      headers,
      body,
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: ANSWER_MS_MAX,
      cancellation,
    })
    const { status } = response
    if (status < 200 || status > 299) {
      response.discard()
      return failed(`The webhook answered with the status ${status}.`, status === 429 || status >= 500)
    }
    const parts: Uint8Array[] = []
    for await (const part of response.body) parts.push(part)
    return readScore(Buffer.concat(parts).toString())
  } catch (error) {
    if (cancellation.isCancelled) return failed(STOPPED)
    if (error instanceof OutboundRefused) return failed(error.message)
    if (error instanceof OutboundFailed) return failed(error.message, error.reason === 'unreachable')
    return failed('The webhook could not be asked.')
  }
}

const STOPPED = 'The run was stopped before the webhook answered.'

async function sign(
  { webhookSecrets, clock }: AskScorerOptions,
  accountId: string,
  body: string,
): Promise<Record<string, string> | null> {
  const atMs = clock.nowMs()
  try {
    return await signWebhook(webhookSecrets, { accountId, id: createId(atMs), atMs, body })
  } catch {
    return null
  }
}

function readScore(text: string): Said {
  let said: unknown
  try {
    said = parseJson(text)
  } catch {
    return failed('The webhook did not answer with JSON.')
  }
  if (!Value.Check(ScorerAnswer, said))
    return failed('The webhook did not answer {"score": a number from 0 to 1}.')
  return { score: { score: said.score, reason: said.reason?.slice(0, REASON_LENGTH_MAX) ?? null } }
}

function failed(reason: string, mayPass = false): Said {
  return { score: { score: null, reason }, mayPass }
}
