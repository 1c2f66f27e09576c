import type { JobCall, MediaProgress, MediaStart } from '../../../media/media-operation.ts'
import { UpstreamError } from '../../../failures/upstream-error.ts'
import { isRecord, parseJson, readString } from '../../exchange/read-json.ts'
import { cancelByRequest } from '../cancel-by-request.ts'
import { captureSubmission } from '../capture-submission.ts'
import { invalidAnswer, jobFailed } from '../job-failure.ts'
import type { WireSession } from '../media-wire.ts'
import { requestJson, type JsonRequest } from '../request-json.ts'

const POLL_AFTER_MS = 1_000
const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 422])

/** Submits to fal's queue. Each model has its own endpoint, and its jobs are found under its application. */
export async function submitToFal(
  session: WireSession,
  endpoint: string,
  input: Readonly<Record<string, unknown>>,
): Promise<MediaStart> {
  const url = `${session.baseUrl}/${endpoint}`
  return readStart(session, endpoint, await requestFal(session, { url, method: 'POST', body: input }))
}

/**
 * Lets the package write the request, but sends it to the given endpoint: the package uses the synchronous address for images,
 * and only a single address and owner for videos.
 */
export async function submitPackageToFal(
  session: WireSession,
  endpoint: string,
  generate: (session: WireSession) => PromiseLike<unknown>,
): Promise<MediaStart> {
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const response = await session.fetch(`${session.baseUrl}/${endpoint}`, init)
    if (!REFUSED_STATUSES.has(response.status)) return response
    throw describeRefusal(session, parseJson(await response.text()), response.status)
  }
  return readStart(session, endpoint, await captureSubmission({ ...session, fetch }, generate))
}

function readStart({ provider }: WireSession, endpoint: string, answer: unknown): MediaStart {
  const id = readString(answer, 'request_id')
  if (id === undefined) throw invalidAnswer(provider, 'a request id')
  return { kind: 'started', job: { id, data: { endpoint } }, pollAfterMs: POLL_AFTER_MS }
}

export async function checkFalJob(
  { job, upstreamModel }: JobCall,
  session: WireSession,
  readOutput: (result: unknown) => MediaProgress,
): Promise<MediaProgress> {
  const url = addressOf(session, readString(job.data, 'endpoint') ?? upstreamModel, job.id)
  const status = await requestFal(session, { url: `${url}/status` })
  const state = readString(status, 'status')
  if (state === 'IN_QUEUE') return { kind: 'running', progress: 0, pollAfterMs: POLL_AFTER_MS }
  if (state === 'IN_PROGRESS') return { kind: 'running', progress: null, pollAfterMs: POLL_AFTER_MS }
  if (state !== 'COMPLETED') throw invalidAnswer(session.provider, 'a status that is known')
  const error = readString(status, 'error')
  if (error !== undefined) {
    throw jobFailed(session.provider, { message: error, code: readString(status, 'error_type') })
  }
  return readOutput(
    await requestFal(session, {
      url,
      describeError: (answer, httpStatus) => describeResult(session, answer, httpStatus),
    }),
  )
}

export async function cancelFalJob({ job, upstreamModel }: JobCall, session: WireSession): Promise<void> {
  const url = addressOf(session, readString(job.data, 'endpoint') ?? upstreamModel, job.id)
  await cancelByRequest(session, { url: `${url}/cancel`, method: 'PUT', headers: authorization(session) })
}

function requestFal(session: WireSession, request: JsonRequest): Promise<unknown> {
  return requestJson(session, {
    describeError: (answer, status) =>
      REFUSED_STATUSES.has(status) ? describeRefusal(session, answer, status) : null,
    ...request,
    headers: authorization(session),
  })
}

function authorization({ apiKey }: WireSession): Readonly<Record<string, string>> {
  return { authorization: `Key ${apiKey}` }
}

const NAMESPACES: ReadonlySet<string> = new Set(['workflows', 'comfy'])

// Built here rather than taken from the answer, so that the key is sent only to the configured address.
function addressOf({ baseUrl }: WireSession, endpoint: string, requestId: string): string {
  const segments = endpoint.split('/')
  const application = segments.slice(0, NAMESPACES.has(segments[0] ?? '') ? 3 : 2).join('/')
  return `${baseUrl}/${application}/requests/${encodeURIComponent(requestId)}`
}

/** Describes an error that is returned instead of the result: the failure of the job, not of the poll. */
function describeResult({ provider }: WireSession, answer: unknown, status: number): UpstreamError | null {
  if (status === 404 || status === 401 || status === 403 || status === 429) return null
  const { message, code } = readDetail(answer)
  return jobFailed(provider, { message, code, status: status < 500 ? 422 : 502 })
}

function describeRefusal({ provider }: WireSession, answer: unknown, status: number): UpstreamError {
  const { message, code, param } = readDetail(answer)
  return new UpstreamError(`${provider} answered ${status}`, {
    failure: 'status',
    provider,
    status,
    ...(message === undefined ? {} : { upstreamMessage: message }),
    ...(code === undefined ? {} : { upstreamCode: code }),
    ...(param === undefined ? {} : { upstreamParam: param }),
  })
}

// For errors of the model, `detail` is a list of problems with the input. For other errors it is a sentence.
function readDetail(answer: unknown): { message?: string; code?: string; param?: string } {
  const detail: unknown = isRecord(answer) ? answer['detail'] : undefined
  if (typeof detail === 'string') return { message: detail }
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined
  if (!isRecord(first)) return {}
  const { msg, type, loc } = first
  return {
    ...(typeof msg === 'string' ? { message: msg } : {}),
    ...(typeof type === 'string' ? { code: type } : {}),
    ...(Array.isArray(loc) ? { param: loc.filter((part) => part !== 'body').join('.') } : {}),
  }
}
