import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorPayload } from '../../providers/error-payload.ts'
import { invalidAnswer } from '../../providers/upstream-error.ts'

/** A parsed `chat.completion`, a chunk of one, or a `text_completion`, with checked choices. */
export interface AnswerPayload {
  readonly members: Record<string, unknown>
  readonly choices: readonly Record<string, unknown>[]
}

/**
 * Parses an answer. Throws an `UpstreamError` if the text is an error or does not belong to this wire. An event of the vendor's
 * own has no choices.
 */
export function readAnswerPayload(provider: string, text: string): AnswerPayload {
  const members = parseObject(text)
  if (members === null) throw invalidAnswer(provider, 'it sent something that is not a JSON object')
  const error = readErrorPayload(provider, members)
  if (error) throw error
  const choices = members['choices'] ?? []
  if (!Array.isArray(choices) || !choices.every(isRecord))
    throw invalidAnswer(provider, 'it sent choices of another shape')
  return { members, choices }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = parseJson(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
