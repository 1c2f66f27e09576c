import type { ChatTool, ChatUsage } from '../chat-wire.ts'
import type { TokenPiece } from './split-tokens.ts'
import type { PlannedChoice } from './plan-answer.ts'
import { writeLogprobs } from './token-logprobs.ts'

export const SYSTEM_FINGERPRINT = 'fp_sandbox'

/** What every payload of one answer has in common. */
export interface AnswerIdentity {
  readonly id: string
  readonly createdSeconds: number
  readonly model: string
  /** Null leaves logprobs out. */
  readonly topLogprobs: number | null
}

/** The whole answer as one `chat.completion`. */
export function writeCompletion(
  identity: AnswerIdentity,
  choices: readonly PlannedChoice[],
  usage: ChatUsage | null,
): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: identity.id,
      object: 'chat.completion',
      created: identity.createdSeconds,
      model: identity.model,
      choices: choices.map((choice) => writeChoice(choice, identity.topLogprobs)),
      ...(usage === null ? {} : { usage }),
      system_fingerprint: SYSTEM_FINGERPRINT,
    }),
  )
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

function writeChoice(choice: PlannedChoice, topLogprobs: number | null): Record<string, unknown> {
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: choice.content && joinPieces(choice.content),
      refusal: null,
      ...(choice.reasoning.length > 0 ? { reasoning_content: joinPieces(choice.reasoning) } : {}),
      ...(choice.toolCalls.length > 0
        ? {
            tool_calls: choice.toolCalls.map(({ id, type, name, argumentPieces }) => ({
              id,
              type,
              ...writeCalled(type, joinPieces(argumentPieces), name),
            })),
          }
        : {}),
    },
    logprobs: topLogprobs !== null && choice.content ? writeLogprobs(choice.content, topLogprobs) : null,
    finish_reason: choice.finishReason,
  }
}

/** The part of a call that names its kind: JSON arguments for a function, plain input for a custom tool. */
export function writeCalled(type: ChatTool['type'], text: string, name?: string): Record<string, unknown> {
  const named = name === undefined ? {} : { name }
  return type === 'custom'
    ? { custom: { ...named, input: text } }
    : { function: { ...named, arguments: text } }
}

function joinPieces(pieces: readonly TokenPiece[]): string {
  return pieces.map(({ text }) => text).join('')
}
