import { Value } from 'typebox/value'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { InferenceAnswer, InferenceCall } from '../../provider.ts'
import { createSandboxProvider } from '../sandbox.ts'

/** The members of answers that the tests read. */
export interface Completion {
  readonly object: string
  readonly model: string
  readonly choices: readonly CompletionChoice[]
  readonly usage?: Usage
}

interface CompletionChoice {
  readonly index: number
  readonly message: Message
  readonly logprobs: { content: LogprobEntry[] } | null
  readonly finish_reason: string
}

interface LogprobEntry {
  token: string
  logprob: number
  top_logprobs: { logprob: number }[]
}

interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly completion_tokens_details: { reasoning_tokens: number }
}

export interface Message {
  content?: string | null
  reasoning_content?: string
  tool_calls?: ToolCall[]
}

interface ToolCall {
  index?: number
  id: string
  type: string
  function: { name: string; arguments: string }
}

export interface StreamChunk {
  readonly object: string
  readonly choices: readonly { index: number; delta: Message; finish_reason: string | null }[]
  readonly usage?: Usage | null
}

interface CallOptions extends Partial<
  Pick<InferenceCall, 'canReason' | 'cancellation' | 'timeouts' | 'requestId'>
> {
  provider?: ReturnType<typeof createSandboxProvider>
}

const sharedProvider = createSandboxProvider()

export function call(body: object, options: CallOptions = {}): Promise<InferenceAnswer> {
  const { provider = sharedProvider, ...rest } = options
  const request = Value.Parse(ChatRequest, { model: 'public-model', ...body })
  if (!provider.chat) throw new Error('the sandbox has lost its chat')
  return provider.chat({
    body: request,
    text: JSON.stringify(request),
    upstreamModel: 'upstream-model',
    canReason: false,
    requestId: 'req_test',
    timeouts: { connectMs: 1000, firstByteMs: 1000, idleMs: 1000 },
    cancellation: new Cancellation(),
    ...rest,
  })
}

export async function chatOnce(body: object, options?: CallOptions): Promise<Completion> {
  const answer = await call(body, options)
  if (answer.kind !== 'complete') throw new Error('answered with a stream')
  return JSON.parse(answer.payload.toString()) as Completion
}

export async function chatStream(body: object, options?: CallOptions): Promise<StreamChunk[]> {
  const answer = await call({ stream: true, ...body }, options)
  if (answer.kind !== 'stream') throw new Error('answered at once')
  const chunks: StreamChunk[] = []
  for await (const batch of answer.batches) {
    for (const payload of batch) chunks.push(JSON.parse(payload.toString()) as StreamChunk)
  }
  if (!answer.isTerminated()) throw new Error('the stream did not say that it was done')
  return chunks
}

/** Assembles the messages from stream chunks, by choice. */
export function joinDeltas(chunks: readonly StreamChunk[]): Message[] {
  const messages: Message[] = []
  for (const { index, delta } of chunks.flatMap(({ choices }) => choices)) {
    const message = (messages[index] ??= {})
    if (typeof delta.content === 'string') message.content = (message.content ?? '') + delta.content
    else if (delta.content === null) message.content ??= null
    for (const fragment of delta.tool_calls ?? []) {
      const calls = (message.tool_calls ??= [])
      const known = calls[fragment.index ?? 0]
      if (known) known.function.arguments += fragment.function.arguments
      else
        calls[fragment.index ?? 0] = {
          id: fragment.id,
          type: fragment.type,
          function: { ...fragment.function },
        }
    }
  }
  return messages
}

export function userMessage(content: string): { role: string; content: string } {
  return { role: 'user', content }
}
