import { diffWordsWithSpace } from 'diff'

/** A part of an answer. Marked ones are not in the answer that it is compared with. */
export interface TextPart {
  readonly text: string
  readonly isMarked: boolean
}

/** Long answers that differ in everything would keep the page busy. */
const TIME_MS_MAX = 100
const LENGTH_MAX = 50_000

/** Marks the words that another answer does not have. Null if the texts are too long or too different. */
export function markDifferences(text: string, other: string): TextPart[] | null {
  if (text.length > LENGTH_MAX || other.length > LENGTH_MAX) return null
  const changes = diffWordsWithSpace(other, text, { timeout: TIME_MS_MAX })
  if (changes === undefined) return null
  return changes
    .filter(({ removed }) => !removed)
    .map(({ value, added }) => ({ text: value, isMarked: added && value.trim() !== '' }))
}
