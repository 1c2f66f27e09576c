import { parseJson } from '../../kernel/json/parse-json.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import type { AnswerHeaders } from './upstream-http1/post-dispatcher.ts'
import { parseRetryAfter } from '../failures/parse-retry-after.ts'
import { readErrorObject } from '../failures/error-payload.ts'

interface ErrorResponse {
  readonly provider: string
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Buffer
}

/** Reads the error of a failed request: OpenAI's error envelope, a variant of it, or an HTML page. */
export function readUpstreamError({ provider, status, headers, body }: ErrorResponse): UpstreamError {
  const said = readErrorObject(readJson(body)) ?? {}
  const retryAfterSeconds = parseRetryAfter(headers['retry-after'])
  return new UpstreamError(
    `${provider} answered ${status}${said.upstreamMessage ? `: ${said.upstreamMessage}` : ''}`,
    {
      failure: 'status',
      provider,
      status,
      ...said,
      ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
    },
  )
}

function readJson(body: Buffer): unknown {
  try {
    return parseJson(body.toString())
  } catch {
    return undefined
  }
}
