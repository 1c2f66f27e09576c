import { notAGateway } from '../api/api-failure.ts'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { readEvents } from '../api/read-events.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }
export type Content = string | readonly Part[]

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: Content
}

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly max_tokens?: number
  readonly reasoning_effort?: string
  readonly response_format?: object
}

interface Chunk {
  readonly model?: string
  readonly choices?: readonly { readonly delta?: Delta; readonly finish_reason?: string | null }[]
  readonly usage?: Schemas['Usage'] | null
  readonly error?: { readonly message?: string }
}

interface Delta {
  readonly content?: string | null
  readonly reasoning_content?: string | null
}

/** Gets an answer as it arrives. */
export interface AnswerSink {
  text(part: string): void
  reasoning(part: string): void
}

export interface ChatEnd {
  readonly model: string
  readonly usage: Schemas['Usage'] | null
}

/** Asks a model and hands over its answer as it arrives. Throws if it ends early; what arrived has then been handed over. */
export async function streamChat(
  gateway: GatewayClient,
  request: ChatRequest,
  { sink, signal }: { sink: AnswerSink; signal?: AbortSignal },
): Promise<ChatEnd> {
  const response = await gateway.send('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (response.body === null) throw cutShort('the gateway sent nothing.')
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    // The program would not end while a body arrives.
    await response.body.cancel()
    throw notAGateway(gateway.connection.baseUrl, 'it does not stream its answer')
  }
  let end: ChatEnd = { model: request.model, usage: null }
  let isDone = false
  for await (const data of readEvents(response.body)) {
    if (data === '[DONE]') {
      isDone = true
      continue
    }
    const chunk = parseChunk(data)
    if (chunk.error !== undefined) throw cutShort(chunk.error.message ?? 'unknown reason.')
    const delta = chunk.choices?.[0]?.delta
    if (delta?.reasoning_content) sink.reasoning(delta.reasoning_content)
    if (delta?.content) sink.text(delta.content)
    end = { model: chunk.model ?? end.model, usage: chunk.usage ?? end.usage }
  }
  if (!isDone) throw cutShort('the connection was cut. What arrived is above.')
  return end
}

function parseChunk(data: string): Chunk {
  try {
    return JSON.parse(data) as Chunk
  } catch {
    throw cutShort('the gateway sent an event that is not JSON.')
  }
}

function cutShort(reason: string): CommandFailure {
  return new CommandFailure(EXIT.failed, `The answer is not complete: ${reason}`)
}
