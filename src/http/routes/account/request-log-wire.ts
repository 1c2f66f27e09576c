import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { AttemptDetails } from '../../../modules/inference/inference.ts'
import { LOG_OUTCOMES, type LogEntry } from '../../../modules/request-log/request-log.ts'
import type { TaskOfRequest } from '../../../modules/tasks/tasks.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { costFields, costToWire, tokenFields, tokensToWire, wireOf, WIRE_NAMES } from './usage-wire.ts'
import { tagsField, tagsToWire } from './tags-wire.ts'

const entryFields = {
  id: Type.String({ format: 'uuid', description: 'The digits of `request_id` as a UUID.' }),
  object: objectName('request'),
  request_id: Type.String({ description: 'The `x-request-id` of the answer.' }),
  created_at: Type.String({ format: 'date-time', description: 'When the request began.' }),
  operation: Type.String({ description: 'What was asked: `chat`, `embedding`, `tts` and so on.' }),
  wire: orNull(Type.Enum([...WIRE_NAMES]), 'What the client spoke. Null where there is only one way to ask.'),
  requested_model: orNull(
    Type.String(),
    'The id or alias that the client sent. Null if it sent none, or if it was not recorded.',
  ),
  model: orNull(Type.String(), 'The model of the catalog. Null if no model was found.'),
  provider: orNull(
    Type.String(),
    'Who answered; if nobody did, who was called last. Null if no upstream was called.',
  ),
  key_id: Type.String({ format: 'uuid', description: 'The id of the API key.' }),
  key_name: orNull(Type.String(), 'The name of the key now.'),
  env: Type.String({ description: 'The environment of the key: `dev`, `test`, `live` or `prod`.' }),
  outcome: Type.Enum([...LOG_OUTCOMES], {
    description:
      '`refused`: by the gateway, before an upstream was called. `disconnected`: the client left before the end.',
  }),
  http_status: orNull(
    Type.Integer(),
    'The status of the answer. 499 if the client left before it ended; 200 for a stream that failed in the middle.',
  ),
  error_code: orNull(Type.String(), 'The `code` of the error. Null if there was none.'),
  error_message: orNull(
    Type.String(),
    'The `message` of the error, cut to 500 characters and without secrets. Null if there was none, or if it was not recorded.',
  ),
  stream: orNull(Type.Boolean(), 'Whether the answer was streamed. Null if it was not recorded.'),
  batch: Type.Boolean({ description: 'Whether it was a line of a batch.' }),
  latency_ms: Type.Integer({ description: 'From the beginning of the request to the end of its answer.' }),
  ttft_ms: orNull(Type.Integer(), 'How long the first token took. Null when the answer was not streamed.'),
  ...tokenFields,
  ...costFields,
  uncovered_usd: Type.Number({ description: 'What the request cost beyond `cost_usd`. It is not charged.' }),
  cache_hit: Type.Boolean({ description: 'Whether a part of the prompt was read from a cache.' }),
  attempt_count: orNull(
    Type.Integer(),
    'How many times an upstream was called. Null if it was not recorded.',
  ),
  fallback: orNull(
    Type.Boolean(),
    'Whether another provider than the first one answered. Null if it was not recorded.',
  ),
  user: orNull(
    Type.String(),
    'The name of the end user that the client sent (`user`, `safety_identifier`, `metadata.user_id`), cut to 128 characters.',
  ),
  client_request_id: orNull(
    Type.String(),
    'The id that the client sent in `x-client-request-id` or `x-request-id`. Requests are not found by it.',
  ),
  ...tagsField,
}

export const RequestEntryAnswer = Type.Object(entryFields)

export const RequestPageAnswer = Type.Object({
  object: objectName('list'),
  data: Type.Array(RequestEntryAnswer, {
    description: 'The requests of this page, newest first.',
  }),
  requests: Type.Array(RequestEntryAnswer, { description: 'The same entries as `data`.' }),
  has_more: Type.Boolean({
    description:
      'Whether there may be more. With a rare filter a page may be short, or empty, before the end: a page reads at most 20,000 requests.',
  }),
  next_cursor: orNull(Type.String(), 'Send it as `after` for the next page.'),
})

export const AttemptAnswer = Type.Object({
  number: Type.Integer({ description: 'From 1.' }),
  provider: Type.String({ description: 'The upstream that served it.' }),
  model: Type.String({ description: "The upstream's name of the model." }),
  reason: Type.Enum(['first', 'retry', 'fallback'], {
    description: '`retry`: the same provider was called again. `fallback`: another one was called.',
  }),
  started_ms: Type.Integer({ description: 'Milliseconds after the beginning of the request.' }),
  duration_ms: Type.Integer({
    description:
      'Until the first byte of the answer (of a stream: the first valid chunk), or until it failed.',
  }),
  outcome: Type.String({
    description:
      '`answered`, `aborted` (the client left), or how it failed: `status`, `timeout`, `cut` and so on.',
  }),
  http_status: orNull(Type.Integer(), 'The status of the upstream if it failed with one.'),
})

const Timings = Type.Object(
  {
    queue_ms: orNull(
      Type.Integer(),
      'Until the first attempt: limits, credit, input files and a free slot. Null if no attempt was recorded.',
    ),
    upstream_ms: orNull(
      Type.Integer(),
      'The sum of the attempts, each until its first byte. Null if no attempt was recorded.',
    ),
    ttft_ms: orNull(Type.Integer(), 'Until the first token. Null when the answer was not streamed.'),
    streaming_ms: orNull(
      Type.Integer(),
      'From the first token to the end. Null when the answer was not streamed.',
    ),
    total_ms: Type.Integer({ description: 'The same as `latency_ms`.' }),
  },
  { description: 'Where the time went, in milliseconds.' },
)

export const RequestAnswer = Type.Object({
  ...entryFields,
  timings: Timings,
  attempts: orNull(Type.Array(AttemptAnswer), 'In order. Null if they were not recorded.'),
  task: orNull(
    Type.Object({
      id: Type.String({ format: 'uuid', description: 'For `GET /v1/tasks/{id}`.' }),
      type: Type.String({ description: 'What the task makes.' }),
      status: Type.String({ description: 'How the task is now.' }),
      attempts: Type.Integer({ description: 'How many times workers have tried it.' }),
      started_at: orNull(Type.String({ format: 'date-time' }), 'Null while it has not begun.'),
      completed_at: orNull(Type.String({ format: 'date-time' }), 'Null until it has ended.'),
    }),
    'The task that the request has made. Null if it made none, or if the task is deleted.',
  ),
  body_stored: Type.Boolean({ description: 'Whether `GET /v1/requests/{request_id}/body` has its bodies.' }),
})

export function entryToWire(entry: LogEntry): Static<typeof RequestEntryAnswer> {
  const { attempts } = entry
  const first = attempts?.[0]
  return {
    id: entry.id,
    object: 'request',
    request_id: `req_${entry.id.replaceAll('-', '')}`,
    created_at: toTimestamp(entry.createdAtMs),
    operation: entry.operation,
    wire: wireOf(entry.operation),
    requested_model: entry.requestedModel,
    model: entry.model || null,
    provider: entry.provider || null,
    key_id: entry.keyId,
    key_name: entry.keyName,
    env: entry.environment,
    outcome: entry.outcome,
    http_status: entry.httpStatus,
    error_code: entry.errorCode,
    error_message: entry.errorMessage,
    stream: entry.isStream,
    batch: entry.isBatch,
    latency_ms: entry.latencyMs,
    ttft_ms: entry.firstTokenMs,
    ...tokensToWire(entry),
    ...costToWire(entry),
    uncovered_usd: usdFromNanoUsd(entry.uncoveredNanoUsd),
    cache_hit: entry.cachedTokens > 0,
    attempt_count: attempts?.length ?? null,
    fallback:
      attempts === null
        ? null
        : first !== undefined && entry.provider !== '' && first.provider !== entry.provider,
    user: entry.endUser,
    client_request_id: entry.clientRequestId,
    ...tagsToWire(entry.labels),
  }
}

export function requestToWire(
  entry: LogEntry,
  task: TaskOfRequest | null,
  isBodyStored: boolean,
): Static<typeof RequestAnswer> {
  const { attempts, latencyMs, firstTokenMs } = entry
  return {
    ...entryToWire(entry),
    timings: {
      queue_ms: attempts?.[0]?.startedMs ?? null,
      upstream_ms: attempts?.length ? attempts.reduce((sum, { durationMs }) => sum + durationMs, 0) : null,
      ttft_ms: firstTokenMs,
      streaming_ms: firstTokenMs === null ? null : Math.max(0, latencyMs - firstTokenMs),
      total_ms: latencyMs,
    },
    attempts: attempts?.map(attemptToWire) ?? null,
    task: task && {
      id: task.id,
      type: task.type,
      status: task.status,
      attempts: task.attempt,
      started_at: task.startedAt && toTimestamp(task.startedAt.getTime()),
      completed_at: task.completedAt && toTimestamp(task.completedAt.getTime()),
    },
    body_stored: isBodyStored,
  }
}

function attemptToWire(
  attempt: AttemptDetails,
  index: number,
  attempts: readonly AttemptDetails[],
): Static<typeof AttemptAnswer> {
  const previous = attempts[index - 1]
  return {
    number: index + 1,
    provider: attempt.provider,
    model: attempt.model,
    reason: previous === undefined ? 'first' : previous.provider === attempt.provider ? 'retry' : 'fallback',
    started_ms: attempt.startedMs,
    duration_ms: attempt.durationMs,
    outcome: attempt.outcome,
    http_status: attempt.status,
  }
}
