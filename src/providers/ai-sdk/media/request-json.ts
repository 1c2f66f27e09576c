import { readErrorObject } from '../../failures/error-payload.ts'
import { parseRetryAfter } from '../../failures/parse-retry-after.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import { parseJson } from '../exchange/read-json.ts'
import type { WireSession } from './media-wire.ts'

export interface JsonRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Creates a more specific error from the body of an error answer. */
  readonly describeError?: (answer: unknown, status: number) => UpstreamError | null
}

/**
 * Sends a request to a vendor without a package, or one that its package does not support. Returns undefined for an empty body.
 */
export async function requestJson(session: WireSession, request: JsonRequest): Promise<unknown> {
  const { url, method = 'GET', headers = {}, body, describeError } = request
  const response = await session.fetch(url, {
    method,
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: session.signal,
  })
  const text = await response.text()
  const answer = parseJson(text)
  if (response.ok) {
    if (answer === undefined && text !== '') throw refuse(session, response, answer)
    return answer
  }
  throw describeError?.(answer, response.status) ?? refuse(session, response, answer)
}

function refuse({ provider, nowMs }: WireSession, response: Response, answer: unknown): UpstreamError {
  if (response.ok) {
    return new UpstreamError(`${provider} did not answer in JSON`, { failure: 'invalid_answer', provider })
  }
  const retryAfterSeconds = parseRetryAfter(response.headers.get('retry-after') ?? undefined, nowMs())
  return new UpstreamError(`${provider} answered ${response.status}`, {
    failure: 'status',
    provider,
    status: response.status,
    ...readErrorObject(answer),
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  })
}
