import { isRecord } from '../../../kernel/is-record.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'

interface ReadAnswer {
  readonly output: string
  readonly reasoning: string | null
  readonly toolCalls: readonly unknown[] | null
  readonly finishReason: string | null
}

interface ToolCall {
  readonly id: string
  readonly type: string
  readonly name: string
  arguments: string
}

/** Reassembles the text of an answer from its stream chunks. */
export class AnswerText {
  #output = ''
  #reasoning = ''
  #finishReason: string | null = null
  readonly #toolCalls = new Map<number, ToolCall>()

  /** The text so far. */
  get output(): string {
    return this.#output
  }

  add(payload: Buffer): void {
    const chunk: unknown = parseJson(payload.toString())
    const choices: unknown = isRecord(chunk) ? chunk['choices'] : null
    const choice: unknown = Array.isArray(choices) ? choices[0] : null
    if (isRecord(choice)) this.#addChoice(choice)
  }

  read(): ReadAnswer {
    return {
      output: this.#output,
      reasoning: this.#reasoning === '' ? null : this.#reasoning,
      toolCalls: this.#toolCalls.size === 0 ? null : [...this.#toolCalls.values()].map(toWire),
      finishReason: this.#finishReason,
    }
  }

  #addChoice({ delta, finish_reason: finishReason }: Record<string, unknown>): void {
    if (typeof finishReason === 'string') this.#finishReason = finishReason
    if (!isRecord(delta)) return
    const { content, reasoning_content: reasoning, refusal, tool_calls: toolCalls } = delta
    if (typeof content === 'string') this.#output += content
    if (typeof refusal === 'string') this.#output += refusal
    if (typeof reasoning === 'string') this.#reasoning += reasoning
    if (Array.isArray(toolCalls)) for (const call of toolCalls) if (isRecord(call)) this.#addToolCall(call)
  }

  #addToolCall(part: Record<string, unknown>): void {
    const index = typeof part['index'] === 'number' ? part['index'] : this.#toolCalls.size
    const type = typeof part['type'] === 'string' ? part['type'] : 'function'
    const body = isRecord(part['custom']) ? part['custom'] : part['function']
    const { name, arguments: text, input = text } = isRecord(body) ? body : {}
    const known = this.#toolCalls.get(index)
    if (known !== undefined) known.arguments += textOf(input)
    else {
      const id = textOf(part['id'])
      this.#toolCalls.set(index, { id, type, name: textOf(name), arguments: textOf(input) })
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toWire({ id, type, name, arguments: text }: ToolCall): unknown {
  return type === 'custom'
    ? { id, type, custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } }
}
