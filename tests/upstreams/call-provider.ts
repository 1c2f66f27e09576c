import { Cancellation } from '../../src/kernel/cancellation.ts'
import type { ChatRequest } from '../../src/wires/openai-chat/chat-request.ts'
import type { InferenceCall, Provider, StreamAnswer } from '../../src/providers/provider.ts'
import { UpstreamError } from '../../src/providers/failures/upstream-error.ts'

export interface CompletionPayload {
  id: string
  object: string
  model: string
  choices: Array<{
    index: number
    message: { role: string; content: string | null; tool_calls?: ToolCallPayload[] } & Record<
      string,
      unknown
    >
    finish_reason: string
  }>
  usage: Record<string, unknown>
}

interface ToolCallPayload {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  extra_content?: unknown
}

export interface ChunkPayload {
  object: string
  model: string
  choices: Array<{ index: number; delta: Record<string, unknown>; finish_reason: string | null }>
  usage?: Record<string, unknown> | null
}

type CallOverrides = Partial<Omit<InferenceCall, 'body'>>

/** Creates a call as the chat module makes it, with generous timeouts. */
export function createCall(body: Partial<ChatRequest>, overrides: CallOverrides = {}): InferenceCall {
  const whole = { model: 'public-model', messages: [{ role: 'user' as const, content: 'Hi' }], ...body }
  return {
    body: whole,
    text: JSON.stringify(whole),
    upstreamModel: 'claude-sonnet-5',
    canReason: true,
    requestId: 'req_test',
    timeouts: { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000 },
    cancellation: new Cancellation(),
    ...overrides,
  }
}

export async function complete(provider: Provider, call: InferenceCall): Promise<CompletionPayload> {
  const answer = await provider.chat?.(call)
  if (answer?.kind !== 'complete') throw new Error('expected a complete answer')
  return JSON.parse(answer.payload.toString('utf8'))
}

export async function openStream(provider: Provider, call: InferenceCall): Promise<StreamAnswer> {
  const answer = await provider.chat?.({ ...call, body: { ...call.body, stream: true } })
  if (answer?.kind !== 'stream') throw new Error('expected a stream')
  return answer
}

/** Reads a stream to its end or its error. */
export async function collect(answer: StreamAnswer): Promise<{ chunks: ChunkPayload[]; error: unknown }> {
  const chunks: ChunkPayload[] = []
  try {
    for await (const batch of answer.batches)
      chunks.push(...batch.map((payload) => JSON.parse(payload.toString('utf8'))))
  } catch (error) {
    return { chunks, error }
  }
  return { chunks, error: undefined }
}

/** Returns the deltas of one choice in order, without the initial role. */
export function deltasOf(chunks: readonly ChunkPayload[], choiceIndex = 0): Record<string, unknown>[] {
  return chunks
    .flatMap((chunk) => chunk.choices.filter((choice) => choice.index === choiceIndex))
    .map((choice) => choice.delta)
    .filter((delta) => Object.keys(delta).length > 0 && !('role' in delta))
}

export async function failureOf(
  promise: Promise<unknown>,
): Promise<UpstreamError['details'] & { isRetryable: boolean }> {
  return promise.then(
    () => {
      throw new Error('expected the call to fail')
    },
    (error: unknown) => {
      if (!(error instanceof UpstreamError)) throw error
      return { ...error.details, isRetryable: error.isRetryable }
    },
  )
}
