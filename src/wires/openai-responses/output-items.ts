import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { createToken } from '../../kernel/identifiers.ts'
import { isToldAgain, type Thought } from '../read-thoughts.ts'
import { sealThoughts } from './sealed-thoughts.ts'
import { TEXT_ARGUMENT, type KnownTool } from './tool-names.ts'

/** Emits an event of one item. `output_index` and the sequence number are added. */
export type Emit = (type: string, members: object) => void

/** An item of a response that is being built. */
export interface OutputItem {
  /** Emits the remaining events and returns the final item. */
  close(status: 'completed' | 'incomplete'): object
}

/** The text of the model. Text and refusal are parts of one message. */
export class MessageItem implements OutputItem {
  readonly #id = createToken('msg_')
  readonly #emit: Emit
  readonly #parts: object[] = []
  #kind: 'text' | 'refusal' | null = null
  #text = ''

  constructor(emit: Emit) {
    this.#emit = emit
    emit('response.output_item.added', { item: this.#item('in_progress') })
  }

  add(kind: 'text' | 'refusal', delta: string): void {
    if (this.#kind !== kind) {
      this.#closePart()
      this.#kind = kind
      this.#tell('response.content_part.added', { part: this.#part() })
    }
    this.#text += delta
    if (kind === 'text') this.#tell('response.output_text.delta', { delta, logprobs: [] })
    else this.#tell('response.refusal.delta', { delta })
  }

  close(status: 'completed' | 'incomplete'): object {
    this.#closePart()
    const item = this.#item(status)
    this.#emit('response.output_item.done', { item })
    return item
  }

  #closePart(): void {
    if (this.#kind === null) return
    const part = this.#part()
    if (this.#kind === 'text') this.#tell('response.output_text.done', { text: this.#text, logprobs: [] })
    else this.#tell('response.refusal.done', { refusal: this.#text })
    this.#tell('response.content_part.done', { part })
    this.#parts.push(part)
    this.#kind = null
    this.#text = ''
  }

  #part(): object {
    if (this.#kind === 'refusal') return { type: 'refusal', refusal: this.#text }
    return { type: 'output_text', text: this.#text, annotations: [], logprobs: [] }
  }

  #item(status: string): object {
    return { id: this.#id, type: 'message', role: 'assistant', status, content: [...this.#parts] }
  }

  #tell(type: string, members: object): void {
    this.#emit(type, { item_id: this.#id, content_index: this.#parts.length, ...members })
  }
}

const SIGNED_FORMAT = 'anthropic-claude-v1'

/** The reasoning of the model, as a summary if the request asked for one. */
export class ReasoningItem implements OutputItem {
  readonly #id = createToken('rs_')
  readonly #emit: Emit
  readonly #isSummary: boolean
  readonly #isSealed: boolean
  readonly #details: object[] = []
  #text = ''

  constructor(emit: Emit, options: { readonly isSummary: boolean; readonly isSealed: boolean }) {
    this.#emit = emit
    this.#isSummary = options.isSummary
    this.#isSealed = options.isSealed
    emit('response.output_item.added', { item: this.#item('in_progress') })
  }

  add(thought: Thought): void {
    if (thought.kind === 'redacted') {
      this.#details.push({ type: 'reasoning.encrypted', data: thought.data, format: SIGNED_FORMAT })
      return
    }
    if (thought.kind === 'text' && !isToldAgain(thought, this.#text)) this.#addText(thought.text)
    const { signature } = thought
    const text = thought.kind === 'text' ? thought.text : this.#text
    if (signature !== null)
      this.#details.push({ type: 'reasoning.text', text, signature, format: SIGNED_FORMAT })
  }

  #addText(delta: string): void {
    if (this.#text === '')
      this.#tell(this.#isSummary ? 'reasoning_summary_part.added' : 'content_part.added', {
        part: this.#part(),
      })
    this.#text += delta
    this.#tell(this.#isSummary ? 'reasoning_summary_text.delta' : 'reasoning_text.delta', { delta })
  }

  close(status: 'completed' | 'incomplete'): object {
    if (this.#text !== '') {
      this.#tell(this.#isSummary ? 'reasoning_summary_text.done' : 'reasoning_text.done', {
        text: this.#text,
      })
      this.#tell(this.#isSummary ? 'reasoning_summary_part.done' : 'content_part.done', {
        part: this.#part(),
      })
    }
    const item = this.#item(status)
    this.#emit('response.output_item.done', { item })
    return item
  }

  #part(): object {
    return { type: this.#isSummary ? 'summary_text' : 'reasoning_text', text: this.#text }
  }

  #item(status: string): object {
    const parts = this.#text === '' ? [] : [this.#part()]
    const isDone = status !== 'in_progress'
    return {
      id: this.#id,
      type: 'reasoning',
      status,
      summary: this.#isSummary ? parts : [],
      ...(this.#isSummary ? {} : { content: parts }),
      ...(this.#isSealed && isDone
        ? { encrypted_content: sealThoughts({ text: this.#text, details: this.#details }) }
        : {}),
    }
  }

  #tell(type: string, members: object): void {
    const place = this.#isSummary ? { summary_index: 0 } : { content_index: 0 }
    this.#emit(`response.${type}`, { item_id: this.#id, ...place, ...members })
  }
}

/** A call of a function or of a tool that takes plain text. */
export class CallItem implements OutputItem {
  readonly #id: string
  readonly #emit: Emit
  readonly #callId: string
  readonly #tool: KnownTool
  #arguments = ''

  constructor(emit: Emit, callId: string, tool: KnownTool) {
    this.#id = createToken(tool.kind === 'custom' ? 'ctc_' : 'fc_')
    this.#emit = emit
    this.#callId = callId
    this.#tool = tool
    emit('response.output_item.added', { item: this.#item('in_progress') })
  }

  add(delta: string): void {
    this.#arguments += delta
    // Plain text is emitted when it is complete, because it arrives wrapped in JSON.
    if (delta !== '' && this.#tool.kind === 'function')
      this.#emit('response.function_call_arguments.delta', { item_id: this.#id, delta })
  }

  close(status: 'completed' | 'incomplete'): object {
    const item = this.#item(status)
    if (this.#tool.kind === 'function') {
      const done = { item_id: this.#id, arguments: this.#arguments }
      this.#emit('response.function_call_arguments.done', done)
    } else {
      const input = readInput(this.#arguments)
      if (input !== '')
        this.#emit('response.custom_tool_call_input.delta', { item_id: this.#id, delta: input })
      this.#emit('response.custom_tool_call_input.done', { item_id: this.#id, input })
    }
    this.#emit('response.output_item.done', { item })
    return item
  }

  #item(status: string): object {
    const { kind, name, namespace } = this.#tool
    return {
      id: this.#id,
      type: kind === 'custom' ? 'custom_tool_call' : 'function_call',
      status,
      call_id: this.#callId,
      name,
      ...(namespace === null ? {} : { namespace }),
      ...(kind === 'custom' ? { input: readInput(this.#arguments) } : { arguments: this.#arguments }),
    }
  }
}

/** Reads the single argument. Returns the text unchanged if the model did not write JSON. */
function readInput(text: string): string {
  try {
    const value: unknown = parseJson(text)
    const input = isRecord(value) ? value[TEXT_ARGUMENT] : undefined
    return typeof input === 'string' ? input : text
  } catch {
    return text
  }
}
