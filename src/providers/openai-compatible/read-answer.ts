import { parseJson } from '../../kernel/json/parse-json.ts'
import { parseLargeJson } from '../../kernel/json/parse-json-in-turns.ts'
import { readErrorPayload } from '../failures/error-payload.ts'
import type { InferenceAnswer } from '../provider.ts'
import { invalidAnswer, type UpstreamError } from '../failures/upstream-error.ts'
import type { ExchangeResponse } from './post-to-upstream.ts'
import { readUpstreamError } from './read-upstream-error.ts'

/** Reads the upstream's answer to a forwarded request, complete or as a stream. */
export function readAnswer(provider: string, response: ExchangeResponse, isStream: boolean): InferenceAnswer {
  if (response.kind === 'body' && isStream) throw readFailedStream(provider, readBody(provider, response))
  if (response.kind === 'body' || !isStream)
    return { kind: 'complete', payload: readBody(provider, response) }
  return { kind: 'stream', batches: response.events, isTerminated: () => response.events.isTerminated }
}

/** Returns the bytes of a successful answer to a request without streaming. */
export function readBody(provider: string, response: ExchangeResponse): Buffer {
  if (response.kind === 'events') {
    void response.events.return()
    throw invalidAnswer(provider, 'it answered with a stream that was not asked for')
  }
  if (response.status < 200 || response.status >= 300) throw readUpstreamError({ provider, ...response })
  return response.body
}

/** Parses the answer, in turns if it is large. Throws if it contains an error, even with a successful status. */
export async function readJsonBody(provider: string, response: ExchangeResponse): Promise<unknown> {
  const body = readBody(provider, response)
  return requireAnswer(
    provider,
    await parseLargeJson(body.toString()).catch(() => {
      throw notJson(provider)
    }),
  )
}

export function parsePayload(provider: string, payload: Buffer): unknown {
  let parsed: unknown
  try {
    parsed = parseJson(payload.toString())
  } catch {
    throw notJson(provider)
  }
  return requireAnswer(provider, parsed)
}

function notJson(provider: string): UpstreamError {
  return invalidAnswer(provider, 'its answer is not JSON')
}

function requireAnswer(provider: string, parsed: unknown): unknown {
  const error = readErrorPayload(provider, parsed)
  if (error !== null) throw error
  return parsed
}

// A stream was requested, but another content type arrived with a successful status: an error message at best, an HTML page at
// worst.
function readFailedStream(provider: string, body: Buffer): UpstreamError {
  try {
    const payload: unknown = parseJson(body.toString())
    return (
      readErrorPayload(provider, payload) ??
      invalidAnswer(provider, 'it answered a stream with one JSON document')
    )
  } catch {
    return invalidAnswer(provider, 'it answered a stream with something else')
  }
}
