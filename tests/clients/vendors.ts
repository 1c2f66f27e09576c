import {
  anthropicBlock,
  anthropicError,
  anthropicMessage,
  anthropicMessageEnd,
  anthropicMessageStart,
  anthropicStream,
  startAnthropicServer,
  type AnthropicEvent,
} from '../upstreams/anthropic-server.ts'
import {
  googleChunk,
  googleContent,
  googleError,
  googleStream,
  startGoogleServer,
  type GooglePart,
} from '../upstreams/google-server.ts'
import type { RecordedRequest, Reply, ScriptedReply, ScriptedServer } from '../upstreams/scripted-server.ts'
import { openAiCompletion, openAiError, openAiStream, startOpenAiServer } from './openai-server.ts'

/** The answer of a model, independent of the wire of a vendor. */
interface ModelAnswer {
  readonly reasoning?: string
  readonly text?: string
  readonly toolCalls?: readonly ModelToolCall[]
  /** Whether the answer ends because of the token limit. */
  readonly isTooLong?: true
  /** The cached and the reasoning tokens in its usage. */
  readonly parts?: UsageParts
}

interface UsageParts {
  readonly cached: number
  readonly reasoning: number
}

interface ModelToolCall {
  readonly id: string
  readonly name: string
  readonly input: Record<string, unknown>
}

/** A vendor behind the gateway: its configuration, and its answers in its own wire. */
export interface Vendor {
  readonly name: string
  /** A model of the catalog with tools, vision and reasoning that only this vendor serves. */
  readonly model: string
  readonly provider: string
  /** Whether reasoning has a signature that must be sent back with the result of a tool. */
  readonly isReasoningSigned: boolean
  /** The usage in its answers: prompt tokens and completion tokens. */
  readonly usage: readonly [number, number]
  /** Whether it reports the number of reasoning tokens. */
  readonly isReasoningCounted: boolean
  start(): Promise<ScriptedServer>
  settings(baseUrl: string): Record<string, string>
  /** Returns an answer, streamed if the request asks for a stream. */
  say(answer: ModelAnswer): Reply
  /** Streams a text and then sends nothing more, without ending the stream. */
  stall(text: string): Reply
  /** Streams a text and, when `mayFail` resolves, an error in the vendor's own format. */
  breakDown(text: string, message: string, mayFail: Promise<void>): Reply
  refuse(status: number, message: string): Reply
}

export const SIGNATURE = 'EqQBCgIYAhIM'

const anthropic: Vendor = {
  name: 'Claude through Anthropic',
  model: 'claude-sonnet-5',
  provider: 'anthropic',
  isReasoningSigned: true,
  usage: [12, 6],
  isReasoningCounted: false,
  start: startAnthropicServer,
  settings: (baseUrl) => ({ ANTHROPIC_API_KEY: 'sk-ant-1', ANTHROPIC_BASE_URL: baseUrl }),
  say: (answer) => (request) => {
    const stop = answer.isTooLong ? 'max_tokens' : answer.toolCalls ? 'tool_use' : 'end_turn'
    const cached = answer.parts?.cached ?? 0
    const usage = { input_tokens: 12 - cached, cache_read_input_tokens: cached, output_tokens: 6 }
    if (!isStreamAsked(request)) {
      return anthropicMessage({ content: anthropicContent(answer), stop_reason: stop, usage })
    }
    const blocks = anthropicContent(answer).flatMap((block, index) => {
      const [start, deltas] = anthropicDeltas(block)
      return anthropicBlock(index, start, deltas)
    })
    const start = anthropicMessageStart({ ...usage, output_tokens: 1 })
    return anthropicStream([start, ...blocks, ...anthropicMessageEnd(stop)])
  },
  stall: (text) => anthropicStream(anthropicBeginning(text), { ending: 'hang' }),
  breakDown: (text, message, mayFail) => {
    const error = { type: 'error', error: { type: 'overloaded_error', message } }
    return joinAfter(mayFail, anthropicStream(anthropicBeginning(text)), anthropicStream([error]))
  },
  refuse: (status, message) => anthropicError(status, 'invalid_request_error', message),
}

function anthropicBeginning(text: string): AnthropicEvent[] {
  const block = anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text }])
  return [anthropicMessageStart(), ...block]
}

type AnthropicContent =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: object }

function anthropicContent({ reasoning, text, toolCalls = [] }: ModelAnswer): AnthropicContent[] {
  const content: AnthropicContent[] = []
  if (reasoning !== undefined) {
    content.push({ type: 'thinking', thinking: reasoning, signature: SIGNATURE })
  }
  if (text !== undefined) content.push({ type: 'text', text })
  for (const call of toolCalls) content.push({ type: 'tool_use', ...call })
  return content
}

function anthropicDeltas(block: AnthropicContent): [object, object[]] {
  if (block.type === 'text') {
    const deltas = words(block.text).map((text) => ({ type: 'text_delta', text }))
    return [{ type: 'text', text: '' }, deltas]
  }
  if (block.type === 'thinking') {
    const deltas = words(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking }))
    const signature = { type: 'signature_delta', signature: block.signature }
    return [{ type: 'thinking', thinking: '', signature: '' }, [...deltas, signature]]
  }
  const json = { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
  return [{ ...block, input: {} }, [json]]
}

const google: Vendor = {
  name: 'Gemini through Google',
  model: 'gemini-3.6-flash',
  provider: 'google',
  isReasoningSigned: true,
  usage: [9, 4],
  isReasoningCounted: true,
  start: startGoogleServer,
  settings: (baseUrl) => ({ GOOGLE_API_KEY: 'AIza-1', GOOGLE_BASE_URL: baseUrl }),
  say: (answer) => (request) => {
    const parts = googleParts(answer)
    const finishReason = answer.isTooLong ? 'MAX_TOKENS' : 'STOP'
    const usageMetadata = googleUsage(answer)
    if (!request.path.includes(':streamGenerateContent'))
      return googleContent(parts, { finishReason, usageMetadata })
    const split = parts.flatMap((part) =>
      typeof part['text'] === 'string' ? words(part['text']).map((text) => ({ ...part, text })) : [part],
    )
    return googleStream(
      split.map((part, index) =>
        googleChunk([part], {
          finishReason: index === split.length - 1 ? finishReason : undefined,
          usageMetadata,
        }),
      ),
    )
  },
  stall: (text) => googleStream([googleChunk([{ text }], { finishReason: undefined })], { ending: 'hang' }),
  breakDown: (text, message, mayFail) => {
    const error = { error: { code: 503, message, status: 'UNAVAILABLE' } }
    const beginning = googleStream([googleChunk([{ text }], { finishReason: undefined })])
    return joinAfter(mayFail, beginning, googleStream([error]))
  },
  refuse: (status, message) => googleError(status, 'INVALID_ARGUMENT', message),
}

/** Google counts reasoning tokens separately from the answer. */
function googleUsage({ parts: { cached, reasoning } = NO_PARTS }: ModelAnswer): object {
  return {
    promptTokenCount: 9,
    cachedContentTokenCount: cached,
    candidatesTokenCount: 4 - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: 13,
  }
}

export const NO_PARTS: UsageParts = { cached: 0, reasoning: 0 }

function googleParts({ reasoning, text, toolCalls = [] }: ModelAnswer): GooglePart[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    // Only the first of several calls is signed.
    ...toolCalls.map(({ id, name, input }, index) => ({
      functionCall: { id, name, args: input },
      ...(index === 0 ? { thoughtSignature: SIGNATURE } : {}),
    })),
  ]
}

const deepseek: Vendor = {
  name: 'DeepSeek through its OpenAI wire',
  model: 'deepseek-v4-flash',
  provider: 'deepseek',
  isReasoningSigned: false,
  usage: [9, 4],
  isReasoningCounted: true,
  start: startOpenAiServer,
  settings: (baseUrl) => ({ DEEPSEEK_API_KEY: 'sk-1', DEEPSEEK_BASE_URL: baseUrl }),
  say: (answer) => (request) => {
    const { reasoning, text = null, toolCalls } = answer
    const tool_calls = toolCalls?.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
    const finishReason = answer.isTooLong ? 'length' : toolCalls ? 'tool_calls' : 'stop'
    const thought = reasoning === undefined ? {} : { reasoning_content: reasoning }
    if (!isStreamAsked(request)) {
      const message = { role: 'assistant', content: text, ...thought, ...(tool_calls ? { tool_calls } : {}) }
      return openAiCompletion(message, finishReason, answer.parts)
    }
    const deltas = [
      { role: 'assistant', content: '' },
      ...words(reasoning ?? '').map((word) => ({ reasoning_content: word })),
      ...words(text ?? '').map((word) => ({ content: word })),
      ...(tool_calls ?? []).map((call, index) => ({ tool_calls: [{ index, ...call }] })),
    ]
    return openAiStream(deltas, { finishReason, parts: answer.parts })
  },
  stall: (text) => openAiStream([{ role: 'assistant', content: text }], { ending: 'hang' }),
  breakDown: (text, message, mayFail) => {
    const beginning = openAiStream([{ role: 'assistant', content: text }], { ending: 'hang' })
    const error = { error: { message, type: 'server_error', code: 503 } }
    return joinAfter(mayFail, beginning, { chunks: [`data: ${JSON.stringify(error)}\n\n`] })
  },
  refuse: openAiError,
}

export const VENDORS: readonly Vendor[] = [anthropic, google, deepseek]

/** Returns the first reply, followed by the chunks of the second one when `mayFollow` resolves. */
export function joinAfter(
  mayFollow: Promise<void>,
  { headers = {}, chunks }: ScriptedReply,
  { chunks: rest }: ScriptedReply,
): ScriptedReply {
  async function* more() {
    await mayFollow
    yield* rest
  }
  return { headers, chunks, more: more() }
}

/** Returns the last request that a vendor received, as text to search in. */
export function lastRequestText(server: ScriptedServer): string {
  return JSON.stringify(server.requests.at(-1)?.body)
}

function isStreamAsked({ body }: RecordedRequest): boolean {
  return typeof body === 'object' && body !== null && 'stream' in body && body.stream === true
}

function words(text: string): string[] {
  return text.split(/(?<= )/).filter((word) => word !== '')
}
