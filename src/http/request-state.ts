import type { FastifyRequest } from 'fastify'
import type { InferenceRecord } from '../modules/chat/chat.ts'
import type { Caller } from '../modules/keys/keys.ts'
import type { InferenceSpan } from '../telemetry/tracing.ts'

/** What the server remembers of a request while it runs. */
export interface RequestState {
  readonly startedMs: number
  /** Null on routes without authentication, and until the key is known. */
  caller: Caller | null
  /** Of inference routes. */
  inference: InferenceRecord | null
  /** Only while tracing is on. */
  span: InferenceSpan | null
  /** Made when somebody asks for the signal: most requests never do. */
  abortController: AbortController | null
}

declare module 'fastify' {
  interface FastifyRequest {
    state: RequestState
  }
}

/** Aborts when the client disconnects, or when the server stops waiting for running requests. */
export function signalOf(request: FastifyRequest): AbortSignal {
  request.state.abortController ??= new AbortController()
  return request.state.abortController.signal
}

export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected'
}
