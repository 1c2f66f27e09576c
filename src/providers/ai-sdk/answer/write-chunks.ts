import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

import { toChatUsage, type CompleteChatUsage } from './chat-usage.ts'
import { readStopSequence, toFinishReason } from './finish-reason.ts'
import { createDeltaTranslator } from './translate-delta.ts'
import type { AnswerHead } from './write-completion.ts'

/** Writes the `chat.completion.chunk` payloads of one choice. */
export interface ChunkWriter {
  /** Returns the payloads for a part. Empty for parts that OpenAI's wire does not have. */
  write(part: LanguageModelV4StreamPart): Buffer[]
  /** Known once the vendor has signalled the end. */
  usage(): CompleteChatUsage | undefined
}

export interface ChunkStyle {
  readonly provider: string
  readonly head: AnswerHead
  /** With `include_usage`, every chunk except the last has a null `usage`. */
  readonly showsNullUsage: boolean
}

interface ChoiceEnding {
  readonly finishReason: string | null
  readonly stopSequence: string | undefined
}

const UNFINISHED: ChoiceEnding = { finishReason: null, stopSequence: undefined }

export function createChunkWriter(style: ChunkStyle, choiceIndex: number): ChunkWriter {
  // Serialised once, because only the delta differs between the chunks of a stream.
  const prefix = `${writeHead(style.head)},"choices":[{"index":${choiceIndex},"delta":`
  const suffix = style.showsNullUsage ? '}],"usage":null}' : '}]}'
  const translateDelta = createDeltaTranslator()
  let isStarted = false
  let usage: CompleteChatUsage | undefined

  function writeChunk(delta: object, ending: ChoiceEnding): Buffer {
    const reason = JSON.stringify(ending.finishReason)
    const stop =
      ending.stopSequence === undefined ? '' : `,"stop_reason":${JSON.stringify(ending.stopSequence)}`
    return Buffer.from(
      `${prefix}${JSON.stringify(delta)},"logprobs":null,"finish_reason":${reason}${stop}${suffix}`,
    )
  }

  function writeWithRole(delta: object, ending: ChoiceEnding): Buffer[] {
    const chunk = writeChunk(delta, ending)
    if (isStarted) return [chunk]
    isStarted = true
    return [writeChunk({ role: 'assistant', content: '', refusal: null }, UNFINISHED), chunk]
  }

  return {
    write(part) {
      if (part.type === 'finish') {
        const ending = { isEmpty: !isStarted, metadata: part.providerMetadata }
        const finishReason = toFinishReason(style.provider, part.finishReason, ending)
        usage = toChatUsage(part.usage)
        return writeWithRole({}, { finishReason, stopSequence: readStopSequence(part.providerMetadata) })
      }
      const delta = translateDelta(part)
      return delta === undefined ? [] : writeWithRole(delta, UNFINISHED)
    },
    usage: () => usage,
  }
}

export function writeUsageChunk(head: AnswerHead, usage: CompleteChatUsage): Buffer {
  return Buffer.from(`${writeHead(head)},"choices":[],"usage":${JSON.stringify(usage)}}`)
}

function writeHead({ id, created, model }: AnswerHead): string {
  const head = { id, object: 'chat.completion.chunk', created, model, system_fingerprint: null }
  return JSON.stringify(head).slice(0, -1)
}
