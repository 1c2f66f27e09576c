import type { ChatTool, ChatUsage } from '../../../wires/openai-chat/chat-request.ts'
import { writeSignedThoughts } from './sign-thoughts.ts'
import type { TokenPiece } from './split-tokens.ts'
import type { PlannedChoice } from './plan-answer.ts'
import { createTurns } from '../take-turns.ts'
import { writeTokenLogprobs } from './token-logprobs.ts'

export const SYSTEM_FINGERPRINT = 'fp_sandbox'

/** Members that every payload of one answer has in common. */
export interface AnswerIdentity {
  readonly id: string
  readonly createdSeconds: number
  readonly model: string
  /** Null omits logprobs. */
  readonly topLogprobs: number | null
}

/** Writes the complete answer as one `chat.completion`. */
export async function writeCompletion(
  identity: AnswerIdentity,
  choices: readonly PlannedChoice[],
  usage: ChatUsage | null,
  signal: AbortSignal,
): Promise<Buffer> {
  const takeTurn = createTurns(LOGPROBS_PER_TURN, signal)
  const head = JSON.stringify({
    id: identity.id,
    object: 'chat.completion',
    created: identity.createdSeconds,
    model: identity.model,
  })
  const tail = JSON.stringify({
    ...(usage === null ? {} : { usage }),
    system_fingerprint: SYSTEM_FINGERPRINT,
  })
  const pieces = [Buffer.from(`${head.slice(0, -1)},"choices":[`)]
  for (const [position, choice] of choices.entries()) {
    const opening = JSON.stringify(writeChoice(choice)).slice(0, -1)
    pieces.push(Buffer.from(`${position === 0 ? '' : ','}${opening},"logprobs":`))
    for (const text of listLogprobs(choice, identity.topLogprobs)) {
      pieces.push(Buffer.from(text))
      await takeTurn(1)
    }
    pieces.push(Buffer.from(`,${writeEnding(choice)}}`))
  }
  pieces.push(Buffer.from(`],${tail.slice(1)}`))
  return Buffer.concat(pieces)
}

const LOGPROBS_PER_TURN = 256
/** Limit for all tokens of a choice together, because clients parse the answer in one step. */
const ALTERNATIVES_MAX = 200_000

function* listLogprobs({ content }: PlannedChoice, topLogprobs: number | null): Generator<string> {
  if (topLogprobs === null || !content) {
    yield 'null'
    return
  }
  const topCount = Math.min(topLogprobs, Math.floor(ALTERNATIVES_MAX / Math.max(1, content.length)))
  yield '{"content":['
  for (const [position, piece] of content.entries())
    yield `${position === 0 ? '' : ','}${writeTokenLogprobs(piece, topCount)}`
  yield '],"refusal":null}'
}

export function sumUsage(promptTokens: number, choices: readonly PlannedChoice[]): ChatUsage {
  const completionTokens = choices.reduce((sum, choice) => sum + choice.completionTokens, 0)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0),
    },
  }
}

/** The stop sequence is reported as vLLM does. OpenAI has no member for it. */
export function writeEnding({ finishReason, stopSequence }: PlannedChoice): string {
  const reason = `"finish_reason":${JSON.stringify(finishReason)}`
  return stopSequence === null ? reason : `${reason},"stop_reason":${JSON.stringify(stopSequence)}`
}

function writeChoice(choice: PlannedChoice): Record<string, unknown> {
  const thoughts = joinPieces(choice.reasoning)
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: choice.content && joinPieces(choice.content),
      refusal: null,
      ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
      ...(choice.signature === null ? {} : writeSignedThoughts(choice.signature, thoughts)),
      ...writeCalls(choice),
    },
  }
}

function writeCalls({ toolCalls, isLegacyCall }: PlannedChoice): Record<string, unknown> {
  const [first] = toolCalls
  if (first === undefined) return {}
  if (isLegacyCall)
    return { function_call: { name: first.name, arguments: joinPieces(first.argumentPieces) } }
  return {
    tool_calls: toolCalls.map(({ id, type, name, argumentPieces }) => ({
      id,
      type,
      ...writeCalled(type, joinPieces(argumentPieces), name),
    })),
  }
}

/** Returns the member for the type of call: JSON arguments for a function, plain input for a custom tool. */
export function writeCalled(type: ChatTool['type'], text: string, name?: string): Record<string, unknown> {
  const named = name === undefined ? {} : { name }
  return type === 'custom'
    ? { custom: { ...named, input: text } }
    : { function: { ...named, arguments: text } }
}

function joinPieces(pieces: readonly TokenPiece[]): string {
  return pieces.map(({ text }) => text).join('')
}
