import { isRecord } from '../../kernel/is-record.ts'
import type { AskedMembers, AttemptRecord, InferenceRecord } from './inference-record.ts'

/** What the request log shows of a request beside its usage. */
export interface RequestDetails {
  readonly isStream: boolean
  /** Whether it was a line of a batch. */
  readonly isBatch: boolean
  readonly errorCode: string | null
  /** The id or alias that the client sent. Null if it sent none. */
  readonly requestedModel: string | null
  /** The client's own name of its user. */
  readonly endUser: string | null
  /** The client's own id of the request. */
  readonly clientRequestId: string | null
  readonly attempts: readonly AttemptDetails[]
}

export interface AttemptDetails {
  readonly provider: string
  /** The upstream's name of the model. */
  readonly model: string
  /** Since the request began. */
  readonly startedMs: number
  readonly durationMs: number
  readonly outcome: string
  readonly status: number | null
  /** What the upstream said when it failed, for operators. Null if nothing was recorded. */
  readonly upstreamCode: string | null
  readonly upstreamMessage: string | null
}

const VERSION = '1'
const NAME_LENGTH_MAX = 128
const MESSAGE_LENGTH_MAX = 300

/**
 * Packs the details of a request into a short text: fields are separated by `;`, attempts by `|` and their parts by `+`. What is
 * usual is left out. On the hot path: every answer goes through here.
 */
export function packDetails(record: InferenceRecord): string {
  const { asked, model, requestedModel, provider, errorCode, clientRequestId } = record
  const endUser = asked === null ? null : readEndUser(asked)
  let attempts = ''
  for (const attempt of record.attempts) {
    const { outcome, status } = attempt
    if (attempts !== '') attempts += '|'
    attempts +=
      `${attempt.provider === provider ? '' : encode(attempt.provider)}+${attempt.upstreamModel === model ? '' : encode(attempt.upstreamModel)}` +
      `+${Math.round(attempt.startedMs)}+${Math.round(attempt.durationMs)}`
    if (outcome !== 'answered' || status !== null)
      attempts += `+${outcome}+${status ?? ''}${packSaid(attempt)}`
  }
  const kind = asked?.stream === true ? 's' : record.isBatch === true ? 'b' : ''
  const alias = requestedModel === null || requestedModel === model ? '' : encode(requestedModel)
  // At the end, where a process of an earlier release does not look.
  const sentId = clientRequestId === null ? '' : `;${encode(clientRequestId)}`
  return `${VERSION};${kind};${errorCode ?? ''};${requestedModel === null ? '-' : alias};${endUser === null ? '' : encode(endUser)};${attempts}${sentId}`
}

/** Stands behind what a process of an earlier release reads. */
function packSaid({ upstreamCode = '', upstreamMessage = '' }: AttemptRecord): string {
  if (upstreamCode === '' && upstreamMessage === '') return ''
  return `+${encode(upstreamCode)}+${encode(upstreamMessage, MESSAGE_LENGTH_MAX)}`
}

/** Returns null if there are none, or if they were packed by another release. */
export function unpackDetails(
  text: string | null,
  { model, provider }: { readonly model: string; readonly provider: string },
): RequestDetails | null {
  const [version, kind, errorCode, requested, endUser, attempts, sentId] = text?.split(';') ?? []
  if (version !== VERSION || attempts === undefined) return null
  return {
    isStream: kind === 's',
    isBatch: kind === 'b',
    errorCode: errorCode || null,
    requestedModel: requested === '-' ? null : requested ? decode(requested) : model || null,
    endUser: endUser ? decode(endUser) : null,
    clientRequestId: sentId ? decode(sentId) : null,
    attempts:
      attempts === '' ? [] : attempts.split('|').map((attempt) => unpackAttempt(attempt, model, provider)),
  }
}

function unpackAttempt(text: string, model: string, provider: string): AttemptDetails {
  const [by, upstreamModel, startedMs, durationMs, outcome, status, code, message] = text.split('+')
  return {
    provider: by ? decode(by) : provider,
    model: upstreamModel ? decode(upstreamModel) : model,
    startedMs: Number(startedMs),
    durationMs: Number(durationMs),
    outcome: outcome || 'answered',
    status: status ? Number(status) : null,
    upstreamCode: code ? decode(code) : null,
    upstreamMessage: message ? decode(message) : null,
  }
}

/** Names that need no encoding: nearly all of them. */
const PLAIN = /^[\w./:@-]{0,128}$/

function encode(name: string, lengthMax = NAME_LENGTH_MAX): string {
  return PLAIN.test(name) && name !== '-'
    ? name
    : encodeURIComponent(name.slice(0, lengthMax).toWellFormed()).replaceAll('-', '%2D')
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Each wire has its own member for the user. */
function readEndUser({ user, safety_identifier: safetyIdentifier, metadata }: AskedMembers): string | null {
  const named = safetyIdentifier ?? user ?? (isRecord(metadata) ? metadata['user_id'] : null)
  return typeof named === 'string' && named !== '' ? named : null
}
