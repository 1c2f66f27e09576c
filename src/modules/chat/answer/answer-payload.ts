import { isRecord } from '../../../kernel/is-record.ts'
import { readErrorPayload } from '../../../providers/failures/error-payload.ts'
import { invalidAnswer } from '../../../providers/failures/upstream-error.ts'

/** A parsed `chat.completion`, a chunk of one, or a `text_completion`, with checked choices. */
export interface AnswerPayload {
  readonly members: Record<string, unknown>
  readonly choices: readonly Record<string, unknown>[]
}

/**
 * Checks a parsed answer. Throws an `UpstreamError` if it is an error or does not belong to this wire. An event of the vendor's
 * own has no choices.
 */
export function readAnswerPayload(provider: string, members: unknown): AnswerPayload {
  if (!isRecord(members)) throw invalidAnswer(provider, 'it sent something that is not a JSON object')
  const error = readErrorPayload(provider, members)
  if (error) throw error
  const choices = members['choices'] ?? []
  if (!Array.isArray(choices) || !choices.every(isRecord))
    throw invalidAnswer(provider, 'it sent choices of another shape')
  return { members, choices }
}
