import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { CompleteAnswer } from '../../../providers/provider.ts'
import { AT_ONCE_LENGTH_MAX, parseLargeJson } from '../../../kernel/json/parse-json-in-turns.ts'

/** A complete answer of an upstream. */
export interface ParsedAnswer {
  readonly text: string
  /** Null if the text is not JSON. */
  readonly value: unknown
}

/** Parses a complete answer. One with the alternatives of every token can have many megabytes, and is parsed in turns. */
export function parseAnswer({ payload, value }: CompleteAnswer): ParsedAnswer | Promise<ParsedAnswer> {
  const text = payload.toString()
  if (value !== undefined) return { text, value }
  if (text.length > AT_ONCE_LENGTH_MAX)
    return parseLargeJson(text).then(
      (parsed) => ({ text, value: parsed }),
      () => ({ text, value: null }),
    )
  return { text, value: parseOrNull(text) }
}

export function parseOrNull(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}
