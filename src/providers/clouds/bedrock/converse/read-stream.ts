import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { readNumber, readPath, readString } from '../../../ai-sdk/exchange/read-json.ts'
import { parseJson } from '../../../../kernel/json/parse-json.ts'
import { decodeFrames } from '../../decode-event-stream.ts'
import { readStopReason, readUsage } from './read-answer.ts'

interface ConverseEvent {
  readonly kind: string
  readonly content: unknown
}

/**
 * Reads the stream of ConverseStream. The usage comes after the reason to stop, in an event of its own.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
export async function* readConverseStream(
  provider: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const blocks = new StreamBlocks()
  let stopReason: string | null = null
  let usage: unknown
  for await (const events of decodeFrames(provider, chunks, readEvent)) {
    for (const { kind, content } of events) {
      if (kind === 'messageStop') stopReason = readString(content, 'stopReason') ?? ''
      else if (kind === 'metadata') usage = readPath(content, 'usage')
      else yield* blocks.read(kind, content)
    }
  }
  // A stream that ended without it was cut, which is found by its missing end.
  if (stopReason !== null)
    yield { type: 'finish', finishReason: readStopReason(stopReason), usage: readUsage(usage) }
}

function readEvent(kind: string, text: string): ConverseEvent {
  return { kind, content: parseJson(text) }
}

/** A block of the stream. Only calls of tools begin with an event of their own. */
type Block =
  | { readonly kind: 'text' | 'reasoning' }
  | { readonly kind: 'tool'; readonly id: string; readonly name: string; input: string }

class StreamBlocks {
  readonly #blocks = new Map<number, Block>()

  read(event: string, content: unknown): LanguageModelV4StreamPart[] {
    const index = readNumber(content, 'contentBlockIndex') ?? 0
    if (event === 'contentBlockStart') return this.#start(index, readPath(content, 'start'))
    if (event === 'contentBlockDelta') return this.#continue(index, readPath(content, 'delta'))
    return event === 'contentBlockStop' ? this.#end(index) : []
  }

  #start(index: number, start: unknown): LanguageModelV4StreamPart[] {
    const id = readString(start, 'toolUse', 'toolUseId')
    const name = readString(start, 'toolUse', 'name')
    if (id === undefined || name === undefined) return []
    this.#blocks.set(index, { kind: 'tool', id, name, input: '' })
    return [{ type: 'tool-input-start', id, toolName: name }]
  }

  #continue(index: number, delta: unknown): LanguageModelV4StreamPart[] {
    const text = readString(delta, 'text')
    if (text !== undefined) return this.#say(index, 'text', text)
    const thought = readString(delta, 'reasoningContent', 'text')
    if (thought !== undefined) return this.#say(index, 'reasoning', thought)
    const input = readString(delta, 'toolUse', 'input')
    const block = this.#blocks.get(index)
    if (input === undefined || block?.kind !== 'tool') return []
    block.input += input
    return [{ type: 'tool-input-delta', id: block.id, delta: input }]
  }

  #say(index: number, kind: 'text' | 'reasoning', delta: string): LanguageModelV4StreamPart[] {
    const id = String(index)
    const said: LanguageModelV4StreamPart = { type: `${kind}-delta`, id, delta }
    if (this.#blocks.has(index)) return [said]
    this.#blocks.set(index, { kind })
    return [{ type: `${kind}-start`, id }, said]
  }

  #end(index: number): LanguageModelV4StreamPart[] {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    if (block === undefined) return []
    if (block.kind !== 'tool') return [{ type: `${block.kind}-end`, id: String(index) }]
    const { id, name } = block
    // A call without arguments streams none.
    const input = block.input === '' ? '{}' : block.input
    return [
      { type: 'tool-input-end', id },
      { type: 'tool-call', toolCallId: id, toolName: name, input },
    ]
  }
}
