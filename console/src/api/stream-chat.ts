import { ApiError, toApiError } from './api-error.ts'
import { noteFailure, type Schemas } from './client.ts'
import { fetchInProject } from './project.ts'
import { readEvents } from './read-events.ts'

export type ChatUsage = Schemas['Usage']

export interface ToolCallDelta {
  readonly index: number
  readonly id?: string | undefined
  readonly function?:
    | { readonly name?: string | undefined; readonly arguments?: string | undefined }
    | undefined
}

export type ChatEvent =
  | { readonly kind: 'start'; readonly requestId: string | null; readonly provider: string | null }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'tool'; readonly delta: ToolCallDelta }
  | { readonly kind: 'finish'; readonly reason: string }
  | { readonly kind: 'usage'; readonly usage: ChatUsage }

interface ChatChunk {
  readonly error?: unknown
  readonly usage?: ChatUsage | null
  readonly choices?: readonly {
    readonly finish_reason?: string | null
    readonly delta?: {
      readonly content?: string | null
      readonly reasoning_content?: string | null
      readonly tool_calls?: readonly ToolCallDelta[] | null
    }
  }[]
}

/** Sends a chat request and returns its answer piece by piece. */
export async function* streamChat(body: object, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const response = await fetchInProject(
    new Request('/v1/chat/completions', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    }),
  )
  if (!response.ok || response.body === null) {
    const failure = toApiError(await response.json().catch(() => null), response)
    noteFailure(failure, response)
    throw failure
  }
  const requestId = response.headers.get('x-request-id')
  yield { kind: 'start', requestId, provider: response.headers.get('x-gateway-provider') }
  for await (const data of readEvents(response.body)) {
    const chunk: ChatChunk = JSON.parse(data)
    if (chunk.error !== undefined) throw toStreamError(chunk.error, requestId)
    yield* eventsOf(chunk)
  }
}

function* eventsOf({ choices = [], usage }: ChatChunk): Generator<ChatEvent> {
  for (const { delta, finish_reason: reason } of choices) {
    if (delta?.reasoning_content) yield { kind: 'reasoning', text: delta.reasoning_content }
    if (delta?.content) yield { kind: 'text', text: delta.content }
    for (const call of delta?.tool_calls ?? []) yield { kind: 'tool', delta: call }
    if (reason) yield { kind: 'finish', reason }
  }
  if (usage) yield { kind: 'usage', usage }
}

/** The stream had begun, so the status was 200 already. */
function toStreamError(error: unknown, requestId: string | null): ApiError {
  const told = typeof error === 'object' && error !== null ? error : {}
  const [message, code] = [Reflect.get(told, 'message'), Reflect.get(told, 'code')]
  return new ApiError(typeof message === 'string' ? message : 'The stream failed.', {
    status: 200,
    code: typeof code === 'string' ? code : 'stream_failed',
    requestId,
  })
}
