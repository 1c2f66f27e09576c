import type { ChatUsage } from '../../../wires/openai-chat/chat-request.ts'
import type { PlannedChoice } from './plan-answer.ts'
import { writeTokenLogprobs } from './token-logprobs.ts'
import { writeSignedThoughts } from './sign-thoughts.ts'
import { SYSTEM_FINGERPRINT, writeCalled, writeEnding, type AnswerIdentity } from './write-completion.ts'

export interface Chunk {
  readonly payload: Buffer
  readonly tokenCount: number
}

export interface ChunkWriter {
  /** Returns the answer as `chat.completion.chunk`s. The choices are interleaved, as in OpenAI's streams. */
  answer(choices: readonly PlannedChoice[]): Generator<Chunk>
  /** Returns a chunk of text for the first choice. */
  text(text: string): Chunk
  usage(usage: ChatUsage): Chunk
}

export function createChunkWriter(identity: AnswerIdentity, isUsageAsked: boolean): ChunkWriter {
  const head = JSON.stringify({
    id: identity.id,
    object: 'chat.completion.chunk',
    created: identity.createdSeconds,
    model: identity.model,
    system_fingerprint: SYSTEM_FINGERPRINT,
  }).slice(0, -1)
  // If the client requested usage, every chunk has the member.
  const tail = isUsageAsked ? '}],"usage":null}' : '}]}'

  const write: WriteDelta = (index, delta, tokenCount = 0, logprobs = 'null', ending = UNFINISHED) => {
    const choice = `"index":${index},"delta":${JSON.stringify(delta)},"logprobs":${logprobs}`
    const text = `${head},"choices":[{${choice},${ending}${tail}`
    return { payload: Buffer.from(text), tokenCount }
  }
  return {
    answer: (choices) =>
      interleave(choices.map((choice) => writeChoice(choice, identity.topLogprobs, write))),
    text: (text) => write(0, { content: text }, 1),
    usage: (usage) => ({
      payload: Buffer.from(`${head},"choices":[],"usage":${JSON.stringify(usage)}}`),
      tokenCount: 0,
    }),
  }
}

type WriteDelta = (
  index: number,
  delta: Record<string, unknown>,
  tokenCount?: number,
  /** As JSON. */
  logprobs?: string,
  /** As JSON members. */
  ending?: string,
) => Chunk

const UNFINISHED = '"finish_reason":null'

function* writeChoice(
  choice: PlannedChoice,
  topLogprobs: number | null,
  write: WriteDelta,
): Generator<Chunk> {
  const { index } = choice
  yield write(index, { role: 'assistant', content: choice.content === null ? null : '', refusal: null })
  for (const { text, tokenCount } of choice.reasoning)
    yield write(index, { reasoning_content: text }, tokenCount)
  if (choice.signature !== null) yield write(index, writeSignedThoughts(choice.signature))
  for (const piece of choice.content ?? []) {
    const logprobs =
      topLogprobs === null ? 'null' : `{"content":[${writeTokenLogprobs(piece, topLogprobs)}],"refusal":null}`
    yield write(index, { content: piece.text }, piece.tokenCount, logprobs)
  }
  for (const [position, call] of choice.toolCalls.entries()) {
    const { id, type } = call
    if (choice.isLegacyCall) {
      yield write(index, { function_call: { name: call.name, arguments: '' } }, 1)
      for (const { text, tokenCount } of call.argumentPieces)
        yield write(index, { function_call: { arguments: text } }, tokenCount)
      continue
    }
    const opening = { index: position, id, type, ...writeCalled(type, '', call.name) }
    yield write(index, { tool_calls: [opening] }, 1)
    for (const { text, tokenCount } of call.argumentPieces) {
      yield write(index, { tool_calls: [{ index: position, ...writeCalled(type, text) }] }, tokenCount)
    }
  }
  yield write(index, {}, 0, 'null', writeEnding(choice))
}

function* interleave(sources: readonly Generator<Chunk>[]): Generator<Chunk> {
  let running = sources
  while (running.length > 0) {
    const stillRunning: Generator<Chunk>[] = []
    for (const source of running) {
      const next = source.next()
      if (next.done === true) continue
      yield next.value
      stillRunning.push(source)
    }
    running = stillRunning
  }
}
