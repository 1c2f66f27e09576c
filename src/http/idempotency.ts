import { AppError, invalidValue } from '../kernel/app-error.ts'
import { ClientDisconnected } from '../kernel/client-disconnected.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Claim, ClaimOutcome, Idempotency, KeptAnswer } from '../modules/idempotency/idempotency.ts'
import { toErrorAnswer } from './answers/error-envelope.ts'
import type { Exchange } from './exchange.ts'
import { recordAnswer, type RecordedAnswer } from './answers/replay-recording.ts'

/** Does the work, or replays the stored answer if a request with the same key has done it. */
export type RunOnce = <Result>(request: KeyedExchange<Result>, work: () => Promise<Result>) => Promise<Result>

interface KeyedExchange<Result> {
  /** Must have a caller. */
  readonly exchange: Exchange
  /** The `idempotency-key` header. */
  readonly key: string | readonly string[]
  /** The raw body, or the fingerprint of a form. */
  readonly body: string | Buffer
  readonly replay: (answer: KeptAnswer) => Result
}

interface RunOnceOptions {
  readonly idempotency: Idempotency
  readonly logger: Logger
}

export const IDEMPOTENCY_HEADER = 'idempotency-key'

const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/
/** Larger answers are sent but not stored. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const RETRY_SECONDS_MAX = 10
const DOUBT_RETRY_SECONDS = 2

/** Implements `Idempotency-Key` for all POST routes. Requests without the header have no overhead. */
export function createRunOnce({ idempotency, logger }: RunOnceOptions): RunOnce {
  const settle = async (claim: Claim, end: (claim: Claim) => Promise<void>): Promise<void> => {
    try {
      await end(claim)
    } catch (error) {
      // The client has paid, so it gets its answer. A repeated request uses the same id and is not charged again.
      logger.warn(
        { err: error, requestId: claim.requestId },
        'how a request with an idempotency key ended was not kept',
      )
    }
  }

  return async ({ exchange, key, body, replay }, work) => {
    const { incoming, response, caller } = exchange
    if (caller === null) throw new Error('a request without a caller cannot be idempotent')
    const claiming = idempotency.claim({
      place: caller,
      key: requireKey(key),
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      body,
      requestId: exchange.id,
    })
    const outcome = await claiming.catch(refuseClaim)
    if (outcome.kind === 'answered') return replay(toReplay(outcome.answer, outcome.requestId))
    if (outcome.kind !== 'claimed') throw refusalOf(outcome)

    const { claim } = outcome
    exchange.id = claim.requestId
    const recording = recordAnswer(response, {
      bytesMax: ANSWER_BYTES_MAX,
      wire: exchange.wire,
      onEnd: (answer) => settle(claim, () => conclude(claim, answer, exchange)),
    })
    exchange.recording = recording
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
    if (response.destroyed) onClosed()
    else response.once('close', onClosed)
    const running = (async () => work())().catch(allowRepeating)
    const failure = running.then(
      () => null,
      (error: unknown) => error,
    )
    // Work may continue after its client disconnects. Its answer is stored too, in the turn in which the work ends.
    void Promise.all([failure, closed]).then(([error]) =>
      setImmediate(() => {
        if (!recording.hasEnded) void settle(claim, () => concludeUnanswered(claim, error, exchange))
      }),
    )
    return running
  }
}

/** Allows a retry of work that happens once per request id, because a retry with this key uses the same id. */
function allowRepeating(error: unknown): never {
  if (!(error instanceof AppError) || !error.isOnceByRequestId) throw error
  const { code, message } = error
  throw new AppError(code, message, { retryAfterSeconds: DOUBT_RETRY_SECONDS, cause: error })
}

/** Only the claim was attempted, and repeating it is harmless, so a retry is safe. */
function refuseClaim(error: unknown): never {
  if (!(error instanceof AppError) || !error.mayBeDone) throw error
  const message = 'The Idempotency-Key cannot be remembered right now. Nothing was done. Try again shortly.'
  throw new AppError(error.code, message, { retryAfterSeconds: DOUBT_RETRY_SECONDS, cause: error })
}

function requireKey(header: string | readonly string[]): string {
  const key = typeof header === 'string' ? header : header.join(', ')
  if (KEY_PATTERN.test(key)) return key
  throw invalidValue('Idempotency-Key', 'Idempotency-Key must be 1 to 255 printable ASCII characters.')
}

function refusalOf(outcome: Exclude<ClaimOutcome, { kind: 'answered' | 'claimed' }>): AppError {
  if (outcome.kind === 'reused') {
    const message = 'This Idempotency-Key was used for another request. Every request needs a key of its own.'
    return new AppError('idempotency_key_reused', message, { param: 'Idempotency-Key' })
  }
  if (outcome.kind === 'unkept') {
    const message =
      `The request ${outcome.requestId} with this Idempotency-Key was done, but its answer was too large or must not be kept. ` +
      'Send it with another key to do it again.'
    return new AppError('conflict', message, { headers: { 'x-should-retry': 'false' } })
  }
  // Wait as long as the request has run so far, which avoids both frequent polling and long waits.
  const retryAfterSeconds = Math.min(RETRY_SECONDS_MAX, Math.max(1, outcome.runningMs / 1000))
  const message = 'The first request with this Idempotency-Key is still running.'
  return new AppError('idempotency_in_progress', message, { retryAfterSeconds })
}

/**
 * Stores a successful answer. A 4xx changed nothing, so its key is released and a retry may succeed. A 5xx may have come after
 * the work was done, so a retry continues under the same request id.
 */
async function conclude(
  claim: Claim,
  { status, headers, body, isWhole }: RecordedAnswer,
  { goesOnAlone, caller, access }: Exchange,
): Promise<void> {
  const isForbidden = caller?.isZeroRetention === true && access?.permissions.includes('models.use') === true
  const isUnderWay = goesOnAlone && status < 400 && !isWhole
  if (status >= 500 || isUnderWay) await claim.interrupt()
  else if (status >= 400 || !isWhole) await claim.release()
  else if (body === null || isForbidden) await claim.keepNothing()
  else await claim.keep({ status, headers: headersToKeep(headers), body })
}

/** The client disconnected before the answer. What it received is charged; a retry is a new request. */
async function concludeUnanswered(claim: Claim, error: unknown, { goesOnAlone }: Exchange): Promise<void> {
  const isOurs = error !== null && !(error instanceof ClientDisconnected)
  if (error === null && goesOnAlone) await claim.interrupt()
  else if (isOurs && toErrorAnswer(error, claim.requestId).status >= 500) await claim.interrupt()
  else await claim.release()
}

/** Headers of one connection or moment, which are created again for every answer. */
const PASSING_HEADERS =
  /^(connection|keep-alive|transfer-encoding|content-length|date|vary|set-cookie|x-request-id|x-content-type-options|x-gateway-latency-ms|x-gateway-balance-usd|x-ratelimit-.*|access-control-.*)$/

function headersToKeep(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = (headers[index] ?? '').toLowerCase()
    if (PASSING_HEADERS.test(name)) continue
    // A replay is free.
    kept.push(name, name === 'x-gateway-cost-usd' ? '0' : (headers[index + 1] ?? ''))
  }
  return kept
}

function toReplay(answer: KeptAnswer, requestId: string): KeptAnswer {
  const headers = [...answer.headers, 'idempotent-replayed', 'true', 'original-request', requestId]
  return { ...answer, headers }
}
