import { uuidOfRequest } from '../../kernel/identifiers.ts'
import { toStorable } from '../../kernel/storable-text.ts'
import { createInferenceRecord, packDetails, type InferenceRecord } from '../inference/inference.ts'
import { scrubUpstreamText } from '../../providers/failures/scrub-upstream-text.ts'
import { errorKeyOf, type ErrorIdentity } from './errors/error-key.ts'
import type { FailedRequest } from './failed-requests.ts'

/** A request that has ended. */
export interface EndedRequest {
  readonly requestId: string
  readonly accountId: string
  readonly keyId: string
  readonly environment: string
  /** The pattern of its route. */
  readonly route: string
  /** Null if it ended before its work began. */
  readonly record: InferenceRecord | null
  /** 499 if the client left. */
  readonly status: number
  readonly errorCode: string | null
  /** As the client got it. Null where nothing of a request may be kept. */
  readonly errorMessage: string | null
  readonly durationMs: number
  /** The client's own id, of a request without a record. */
  readonly clientRequestId?: string | null | undefined
  /** Of the caller. */
  readonly labels?: readonly string[] | undefined
}

/** Returns the entry of a request that is not recorded with a charge. Null for all others, and for routes without a model. */
export function toFailedRequest(ended: EndedRequest): FailedRequest | null {
  return ended.status < 400 || ended.record?.isBilled === true ? null : describeFailure(ended)
}

/** Returns a stream that failed after it began, which is recorded with its charge. Null for all others. */
export function toFailedStream(ended: EndedRequest): FailedRequest | null {
  if (ended.record?.isBilled !== true || ended.record.outcome !== 'failed') return null
  const failure = describeFailure({ ...ended, errorCode: ended.record.errorCode })
  return failure && { ...failure, outcome: 'failed' }
}

function describeFailure(ended: EndedRequest): FailedRequest | null {
  const operation = ended.record?.operation ?? OPERATION_OF_ROUTE.get(ended.route)
  if (operation === undefined) return null
  const record = ended.record ?? createInferenceRecord(operation)
  record.clientRequestId ??= ended.clientRequestId ?? null
  const id = uuidOfRequest(ended.requestId)
  const outcome = outcomeOf(ended, record)
  const error = errorOf(ended, record)
  return {
    id,
    ...error,
    errorKey: errorKeyOf({ ...error, outcome, httpStatus: ended.status }),
    accountId: ended.accountId,
    keyId: ended.keyId,
    environment: ended.environment,
    operation,
    model: record.model ?? '',
    provider: record.provider ?? record.attempts.at(-1)?.provider ?? '',
    outcome,
    httpStatus: ended.status,
    latencyMs: toMilliseconds(ended.durationMs),
    firstTokenMs: record.firstTokenMs === null ? null : toMilliseconds(record.firstTokenMs),
    details: packDetails(record),
    createdAtMs: Number.parseInt(id.slice(0, TIME_DIGITS), 16),
    labels: ended.labels,
  }
}

const MESSAGE_LENGTH_MAX = 500

/** Messages may repeat what a client sent, so that secrets are removed from them. */
function errorOf(
  { errorCode, errorMessage }: EndedRequest,
  { attempts }: InferenceRecord,
): Omit<ErrorIdentity, 'outcome' | 'httpStatus'> {
  const failed = attempts.findLast(({ outcome }) => outcome !== 'answered' && outcome !== 'aborted')
  return {
    errorCode,
    errorMessage: errorMessage && bound(scrubUpstreamText(errorMessage)),
    upstreamStatus: failed?.status ?? null,
    upstreamCode: failed?.upstreamCode ? bound(failed.upstreamCode) : null,
    upstreamMessage: failed?.upstreamMessage ? bound(failed.upstreamMessage) : null,
  }
}

function bound(text: string): string {
  return toStorable(text.slice(0, MESSAGE_LENGTH_MAX))
}

/** The first digits of a request's id are the time when it began. */
const TIME_DIGITS = 12
const CLIENT_CLOSED_REQUEST = 499

function outcomeOf({ status }: EndedRequest, { attempts }: InferenceRecord): FailedRequest['outcome'] {
  if (status === CLIENT_CLOSED_REQUEST) return 'disconnected'
  return attempts.length > 0 || status >= 500 ? 'failed' : 'refused'
}

const MILLISECONDS_MAX = 2_147_483_647

function toMilliseconds(durationMs: number): number {
  return Math.min(Math.max(Math.round(durationMs), 0), MILLISECONDS_MAX)
}

/** The operation of requests that were refused before their work began. */
const OPERATION_OF_ROUTE: ReadonlyMap<string, InferenceRecord['operation']> = new Map([
  ['/v1/chat/completions', 'chat'],
  ['/v1/completions', 'completion'],
  ['/v1/messages', 'messages'],
  ['/anthropic/v1/messages', 'messages'],
  ['/v1/responses', 'responses'],
  ['/v1/embeddings', 'embedding'],
  ['/v1/rerank', 'rerank'],
  ['/v1/moderations', 'moderation'],
  ['/v1/images/generations', 'image'],
  ['/v1/images/edits', 'edit'],
  ['/v1/images/upscale', 'upscale'],
  ['/v1/images/bg-remove', 'bg_remove'],
  ['/v1/videos/generations', 'video'],
  ['/v1/audio/speech', 'tts'],
  ['/v1/audio/transcriptions', 'stt'],
  ['/v1/audio/translations', 'translation'],
  ['/v1/audio/music', 'music'],
])
