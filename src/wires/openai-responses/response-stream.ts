import { isRecord } from '../../kernel/is-record.ts'
import { createToken } from '../../kernel/identifiers.ts'
import { readSpokenText } from '../read-spoken-text.ts'
import { readThoughts, type Thought } from '../read-thoughts.ts'
import { CallItem, MessageItem, ReasoningItem, type OutputItem } from './output-items.ts'
import { toResponseUsage, toSnapshot, type ResponseState, type ResponseUsage } from './response-snapshot.ts'
import type { ResponsesRequest } from './responses-request.ts'
import type { ToolNames } from './tool-names.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

const SEALED = 'reasoning.encrypted_content'

/** Converts the chunks of a chat stream to the events of a response, as JSON. */
export class ResponseStream {
  readonly #request: ResponsesRequest
  readonly #tools: ToolNames
  readonly #id: string
  readonly #items: { readonly item: OutputItem; readonly index: number }[] = []
  readonly #calls = new Map<number, CallItem>()
  readonly #output: object[] = []
  #events: Buffer[] = []
  #sequence = 0
  #createdAt: number | null = null
  /** The item that is being written. Calls stay open beside it. */
  #open: MessageItem | ReasoningItem | null = null
  #finishReason = 'stop'
  #usage: ResponseUsage | null = null
  /** Whether the model has finished, even if the upstream sends more. */
  hasFinished = false

  constructor(id: string, request: ResponsesRequest, tools: ToolNames) {
    this.#id = id
    this.#request = request
    this.#tools = tools
  }

  /** Returns the events of a parsed chunk, or of a complete answer, whose message counts as one delta. */
  add(chunk: Readonly<Record<string, unknown>>): Buffer[] {
    this.#events = []
    this.#start(chunk['created'])
    if (isRecord(chunk['usage'])) this.#usage = toResponseUsage(chunk['usage'])
    const choices: readonly unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : []
    const [choice] = choices
    if (!isRecord(choice)) return this.#events
    const delta = choice['delta'] ?? choice['message']
    if (isRecord(delta)) this.#addDelta(delta)
    if (typeof choice['finish_reason'] === 'string') {
      this.#finishReason = choice['finish_reason']
      this.hasFinished = true
    }
    return this.#events
  }

  /** Returns the events after the last chunk. The last event contains the complete response. */
  end(): Buffer[] {
    const { status, response } = this.#close()
    this.#emit(`response.${status}`, { response })
    return this.#events
  }

  /** Ends the response and returns it, for an answer that is no stream. */
  finish(): object {
    return this.#close().response
  }

  #close(): { status: string; response: object } {
    this.#events = []
    this.#start(null)
    const incompleteReason = INCOMPLETE_REASONS[this.#finishReason] ?? null
    const status = incompleteReason === null ? 'completed' : 'incomplete'
    for (const { item, index } of this.#items)
      if (!(index in this.#output)) this.#output[index] = item.close(status)
    return { status, response: this.#snapshot(status, incompleteReason) }
  }

  #addDelta(delta: Record<string, unknown>): void {
    for (const thought of readThoughts(delta)) this.#addThought(thought)
    const { refusal } = delta
    const text = readSpokenText(delta['content'])
    if (text !== '') this.#message().add('text', text)
    if (typeof refusal === 'string' && refusal !== '') this.#message().add('refusal', refusal)
    const calls: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
    for (const [position, call] of calls.entries()) if (isRecord(call)) this.#addCall(call, position)
  }

  #addThought(thought: Thought): void {
    if (!(this.#open instanceof ReasoningItem)) {
      // A signature belongs to the reasoning before it.
      if (thought.kind === 'signature') return
      const { reasoning, include, store } = this.#request
      const options = {
        isSummary: typeof reasoning?.summary === 'string' && reasoning.summary !== 'none',
        // A stored response can be continued, and some vendors then require their reasoning.
        isSealed: store === true || include?.includes(SEALED) === true,
      }
      this.#open = this.#begin((emit) => new ReasoningItem(emit, options))
    }
    if (this.#open instanceof ReasoningItem) this.#open.add(thought)
  }

  #message(): MessageItem {
    if (this.#open instanceof MessageItem) return this.#open
    const message = this.#begin((emit) => new MessageItem(emit))
    this.#open = message
    return message
  }

  #addCall(call: Record<string, unknown>, position: number): void {
    const called = call['function']
    // A call of a type that the request did not have.
    if (!isRecord(called)) return
    const callIndex = typeof call['index'] === 'number' ? call['index'] : position
    const known = this.#calls.get(callIndex) ?? this.#openCall(callIndex, call['id'], called['name'])
    if (typeof called['arguments'] === 'string') known.add(called['arguments'])
  }

  #openCall(callIndex: number, id: unknown, name: unknown): CallItem {
    const called = String(name)
    const tool = this.#tools.known.get(called) ?? { kind: 'function' as const, name: called, namespace: null }
    const callId = typeof id === 'string' && id !== '' ? id : createToken('call_')
    const made = this.#begin((emit) => new CallItem(emit, callId, tool))
    this.#calls.set(callIndex, made)
    return made
  }

  #begin<Item extends OutputItem>(make: (emit: (type: string, members: object) => void) => Item): Item {
    this.#closeOpen()
    const index = this.#items.length
    const item = make((type, members) => this.#emit(type, { output_index: index, ...members }))
    this.#items.push({ item, index })
    return item
  }

  #closeOpen(): void {
    const open = this.#open
    if (open === null) return
    this.#open = null
    // A new item closes this one first, so this one is always the last.
    this.#output[this.#items.length - 1] = open.close('completed')
  }

  #start(created: unknown): void {
    if (this.#createdAt !== null) return
    this.#createdAt = typeof created === 'number' ? created : Math.floor(Date.now() / 1000)
    const response = this.#snapshot('in_progress', null)
    this.#emit('response.created', { response })
    this.#emit('response.in_progress', { response })
  }

  #snapshot(status: ResponseState['status'], incompleteReason: string | null): object {
    return toSnapshot(this.#request, {
      id: this.#id,
      createdAt: this.#createdAt ?? 0,
      status,
      incompleteReason,
      output: [...this.#output],
      usage: this.#usage,
    })
  }

  #emit(type: string, members: object): void {
    this.#events.push(Buffer.from(JSON.stringify({ type, sequence_number: this.#sequence, ...members })))
    this.#sequence += 1
  }
}

const INCOMPLETE_REASONS = lookupTable<string>({
  length: 'max_output_tokens',
  content_filter: 'content_filter',
})
