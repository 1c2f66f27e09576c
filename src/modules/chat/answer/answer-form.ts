import type { NanoUsd } from '../../../kernel/money.ts'
import type { TokenUsage } from '../../../wires/token-usage.ts'
import type { AnswerContext } from './answer-context.ts'
import { ChunkNormaliser } from './chunk-normaliser.ts'
import type { ChunkRun } from './chunk-run.ts'
import type { DeliveredText } from './delivered-text.ts'
import { finishCompleteAnswer } from './finish-complete-answer.ts'
import type { ParsedAnswer } from './parse-answer.ts'

/** How the answers of one wire are read, metered and completed. */
export interface AnswerForm {
  /** Checks a complete answer, meters it, and puts our model id, usage and cost into its text. */
  readonly finish: (answer: ParsedAnswer, context: AnswerContext) => string
  readonly openStream: (context: AnswerContext, options: { isUsageAsked: boolean }) => StreamReader
}

/** Reads one stream, payload by payload. */
export interface StreamReader {
  /** Returns the payload to send, or null if it has nothing for the client. */
  read(payload: Buffer): Buffer | null
  /** Reads payloads that came together, at a lower cost. Adds what was read before an error. */
  readAll?(batch: readonly Buffer[], run: ChunkRun): void
  /** What was sent to the client. */
  readonly delivered: DeliveredText
  readonly reportedUsage: TokenUsage | null
  /** Whether the answer is complete, even if the upstream has not sent its end marker. */
  readonly hasFinished: boolean
  /** Why the model stopped, by the upstream's own word. */
  readonly finishReason?: string | null
  /** Returns the last payloads. They are sent once the charge is durable. */
  end(usage: TokenUsage, costNanoUsd: NanoUsd): Buffer[]
}

const openAiForm = (kind: 'chat' | 'completion'): AnswerForm => ({
  finish: (answer, context) => finishCompleteAnswer(answer, context, kind),
  openStream: (context, { isUsageAsked }) => new ChunkNormaliser(context, { kind, isUsageAsked }),
})

export const CHAT_FORM = openAiForm('chat')
export const COMPLETION_FORM = openAiForm('completion')
