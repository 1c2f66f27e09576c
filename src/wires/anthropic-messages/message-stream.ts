import { isRecord } from '../../kernel/is-record.ts'
import { envelopMessage } from './message-head.ts'
import { toMessageUsage, type MessageUsage } from './message-usage.ts'
import { readSpokenText } from '../read-spoken-text.ts'
import { isToldAgain, readThoughts, type Thought } from '../read-thoughts.ts'
import { toStopReason } from './stop-reason.ts'
import { DIRECT_CALLER } from './to-message.ts'

/** The open block. This wire has one open block at a time, while tool calls in the chat format may be interleaved. */
type OpenBlock =
  | { readonly kind: 'text' | 'thinking' }
  | { readonly kind: 'call'; readonly callIndex: number }

interface WaitingCall {
  readonly id: unknown
  name: unknown
  input: string
}

/** Converts the chunks of a chat stream to the events of a message, as JSON. */
export class MessageStream {
  #events: Buffer[] = []
  #isStarted = false
  #open: OpenBlock | null = null
  #index = -1
  /** The thinking text that is not signed yet. */
  #thought = ''
  /** Null if the upstream reports none; then the tokens are counted. */
  #usage: MessageUsage | null = null
  #finishReason = 'stop'
  /** Whether the model has finished, even if the upstream sends more. */
  hasFinished = false
  #stopSequence: string | null = null
  #isRefusal = false
  #hasToolCalls = false
  /** Calls that began while another one was open. They are written after it. */
  readonly #waiting = new Map<number, WaitingCall>()

  /** Returns the events of a parsed chunk. */
  add(chunk: Readonly<Record<string, unknown>>): Buffer[] {
    this.#events = []
    this.#add(chunk)
    return this.#events
  }

  /** Returns the events after the last chunk. */
  end(): Buffer[] {
    this.#events = []
    this.#start({})
    this.#close()
    for (const [callIndex, call] of this.#waiting) this.#writeWaiting(callIndex, call)
    const stopReason = toStopReason({
      finishReason: this.#finishReason,
      stopSequence: this.#stopSequence,
      isRefusal: this.#isRefusal,
      hasToolCalls: this.#hasToolCalls,
    })
    this.#emit('message_delta', {
      delta: { stop_reason: stopReason, stop_sequence: this.#stopSequence },
      usage: this.#usage,
    })
    this.#emit('message_stop', {})
    return this.#events
  }

  #add(chunk: Readonly<Record<string, unknown>>): void {
    this.#start(chunk)
    if (isRecord(chunk['usage'])) this.#usage = toMessageUsage(chunk['usage'])
    const choices: readonly unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : []
    const [choice] = choices
    if (!isRecord(choice)) return
    if (isRecord(choice['delta'])) this.#addDelta(choice['delta'])
    if (typeof choice['finish_reason'] === 'string') {
      this.#finishReason = choice['finish_reason']
      this.hasFinished = true
    }
    if (typeof choice['stop_reason'] === 'string') this.#stopSequence = choice['stop_reason']
  }

  #addDelta(delta: Record<string, unknown>): void {
    for (const thought of readThoughts(delta)) this.#addThought(thought)
    const { refusal } = delta
    if (typeof refusal === 'string' && refusal !== '') this.#isRefusal = true
    for (const text of [readSpokenText(delta['content']), refusal]) {
      if (typeof text !== 'string' || text === '') continue
      this.#openBlock({ kind: 'text' }, { type: 'text', text: '' })
      this.#delta({ type: 'text_delta', text })
    }
    const calls: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
    for (const call of calls) if (isRecord(call)) this.#addCall(call)
  }

  #addThought(thought: Thought): void {
    if (thought.kind === 'redacted') {
      this.#close()
      this.#begin({ type: 'redacted_thinking', data: thought.data })
      this.#stop()
      return
    }
    if (thought.kind === 'signature' && this.#open?.kind !== 'thinking') return
    this.#openBlock({ kind: 'thinking' }, { type: 'thinking', thinking: '', signature: '' })
    if (thought.kind === 'text' && !isToldAgain(thought, this.#thought)) {
      this.#thought += thought.text
      this.#delta({ type: 'thinking_delta', thinking: thought.text })
    }
    const { signature } = thought
    if (signature === null) return
    this.#thought = ''
    // The signature covers the whole block, so the block ends here.
    this.#delta({ type: 'signature_delta', signature })
    this.#close()
  }

  #addCall(call: Record<string, unknown>): void {
    const called = call['function'] ?? call['custom']
    // A call of a type that this wire does not have.
    if (!isRecord(called)) return
    this.#hasToolCalls = true
    const callIndex = typeof call['index'] === 'number' ? call['index'] : 0
    const { name, arguments: given, input } = called
    const text = [given, input].find((part) => typeof part === 'string') ?? ''
    const open = this.#open
    if (open?.kind === 'call' && open.callIndex !== callIndex) {
      const waiting = this.#waiting.get(callIndex) ?? { id: call['id'], name, input: '' }
      waiting.input += text
      this.#waiting.set(callIndex, waiting)
      return
    }
    if (open?.kind !== 'call') this.#openCall(callIndex, { id: call['id'], name })
    if (text !== '') this.#delta({ type: 'input_json_delta', partial_json: text })
  }

  #openCall(callIndex: number, { id, name }: { readonly id: unknown; readonly name: unknown }): void {
    this.#close()
    this.#open = { kind: 'call', callIndex }
    this.#begin({ type: 'tool_use', id, name, input: {}, caller: DIRECT_CALLER })
  }

  #writeWaiting(callIndex: number, call: WaitingCall): void {
    this.#openCall(callIndex, call)
    if (call.input !== '') this.#delta({ type: 'input_json_delta', partial_json: call.input })
    this.#close()
  }

  #start({ id, model }: Readonly<Record<string, unknown>>): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const nothingYet = { content: [], stopReason: null, stopSequence: null, usage: null }
    this.#emit('message_start', { message: envelopMessage({ id, model, ...nothingYet }) })
  }

  #openBlock(block: OpenBlock, content: object): void {
    if (this.#open?.kind === block.kind) return
    this.#close()
    this.#open = block
    this.#begin(content)
  }

  #begin(content: object): void {
    this.#index += 1
    this.#emit('content_block_start', { index: this.#index, content_block: content })
  }

  #delta(delta: object): void {
    this.#emit('content_block_delta', { index: this.#index, delta })
  }

  #close(): void {
    if (this.#open === null) return
    this.#open = null
    this.#stop()
  }

  #stop(): void {
    this.#emit('content_block_stop', { index: this.#index })
  }

  #emit(type: string, members: object): void {
    this.#events.push(Buffer.from(JSON.stringify({ type, ...members })))
  }
}
