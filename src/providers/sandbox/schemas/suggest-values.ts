/** For an enum the suggestions are single words. Other types get complete values. */
export type SuggestedType = 'string' | 'number' | 'enum'

const NAMES_MAX = 8
const NUMBERS_MAX = 16
const WORDS_MAX = 200
const TEXT_LENGTH_MAX = 1000
const NAME_LENGTH_MAX = 200
const FREE_TEXT_PATTERN =
  /query|question|text|prompt|message|input|content|search|topic|expression|title|body/i
// Capitalised words are rarely the value of properties such as a language, a unit or a date.
const OTHER_TEXT_PATTERN = /unit|format|type|lang|mail|date|time|colou?r|currency|id$/i
const PROPER_NAME = String.raw`\p{Lu}[\p{L}\p{M}'’-]{0,30}(?: \p{Lu}[\p{L}\p{M}'’-]{0,30}){0,3}`

/** Extracts values for a tool's arguments from the user's text: names, quotations, numbers, and the text itself. */
export function createSuggestions(
  userText: string,
): (propertyName: string, type: SuggestedType) => readonly unknown[] {
  const text = userText.slice(0, TEXT_LENGTH_MAX)
  const numbers = (text.match(/-?\b\d{1,15}(?:\.\d{1,10})?\b/g) ?? []).slice(0, NUMBERS_MAX).map(Number)
  const words = text.split(/[^\p{L}\p{N}_-]+/u, WORDS_MAX)
  const quotations = listQuotations(text)
  const names = listProperNames(text)
  const freeTexts = [...quotations, text]
  const named = [...quotations, ...names]
  return (propertyName, type) => {
    if (type === 'number') return numbers
    if (type === 'enum') return words
    const name = propertyName.slice(-NAME_LENGTH_MAX)
    if (FREE_TEXT_PATTERN.test(name)) return freeTexts
    return OTHER_TEXT_PATTERN.test(name) ? quotations : named
  }
}

/** Splits “Paris and London tomorrow” into two texts with one name each, so that each gets its own call. */
export function splitByNames(userText: string): string[] {
  const text = userText.slice(0, TEXT_LENGTH_MAX)
  const joined = new RegExp(`(${PROPER_NAME})((?:, ${PROPER_NAME}){0,6}),? and (${PROPER_NAME})`, 'u').exec(
    text,
  )
  if (!joined) return [userText]
  const [all, first = '', middle = '', last = ''] = joined
  const names = [first, ...middle.split(', ').filter((name) => name !== ''), last]
  const before = text.slice(0, joined.index)
  const after = text.slice(joined.index + all.length)
  // A name at the very start would be treated as the first word of a sentence.
  return names.map((name) => `${before === '' ? 'for ' : before}${name}${after}`)
}

function listQuotations(text: string): string[] {
  return [...text.matchAll(/["“]([^"“”]{1,200})["”]/g)].slice(0, NAMES_MAX).map(([, quoted = '']) => quoted)
}

// The first word of a sentence is always capitalised.
function listProperNames(text: string): string[] {
  const pattern = new RegExp(`(?<=[\\p{Ll}\\d,] )${PROPER_NAME}`, 'gu')
  return [...text.matchAll(pattern)].slice(0, NAMES_MAX).map(([name]) => name)
}
