import { isDeepStrictEqual } from 'node:util'
import Schema from 'typebox/schema'
import { hasText } from './find-text.ts'
import { textSimilarity } from './text-similarity.ts'

/** One answer and its expectation, in a form that can be sent to a thread. */
export type Comparison =
  | { readonly type: 'exact' | 'contains' | 'similarity'; readonly value: string; readonly output: string }
  /** The value is the text of the JSON. */
  | { readonly type: 'json'; readonly value: string; readonly output: string }
  /** The value is the text of the schema. Its patterns are unbounded. */
  | { readonly type: 'json_schema'; readonly value: string; readonly output: string }
  /** The pattern was checked before. */
  | { readonly type: 'regex'; readonly value: string; readonly flags: string; readonly output: string }

/** Takes linear time, except for patterns and schemas, which are unbounded. */
export function compareOutput(comparison: Comparison): boolean | number {
  const { value, output } = comparison
  switch (comparison.type) {
    case 'exact':
      return output.trim() === value.trim()
    case 'contains':
      return hasText(output.toLowerCase(), value.toLowerCase())
    case 'similarity':
      return textSimilarity(output, value)
    case 'json_schema':
      return fitsSchema(value, output)
    case 'json':
      return isSameJson(value, output)
    case 'regex':
      return new RegExp(value, comparison.flags).test(output)
  }
}

function isSameJson(expected: string, output: string): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(readFenced(output.trim())), JSON.parse(expected))
  } catch {
    return false
  }
}

function fitsSchema(schema: string, output: string): boolean {
  try {
    return Schema.Check(JSON.parse(schema), JSON.parse(readFenced(output.trim())))
  } catch {
    return false
  }
}

const FENCE = '```'
const INFO_LENGTH_MAX = 64

/** Models often wrap JSON in a fenced block. */
function readFenced(text: string): string {
  if (text.length < 2 * FENCE.length || !text.startsWith(FENCE) || !text.endsWith(FENCE)) return text
  const infoEnd = text.indexOf('\n')
  const info = text.slice(FENCE.length, Math.min(infoEnd, INFO_LENGTH_MAX)).trim()
  return infoEnd !== -1 && (info === '' || info === 'json')
    ? text.slice(infoEnd + 1, -FENCE.length).trim()
    : text
}
