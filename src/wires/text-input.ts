/** A prompt or an input to embed: one text, several texts, or the token ids of one or several. */
export type TextInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[]

export function countInputs(input: TextInput): number {
  return typeof input === 'string' || typeof input[0] === 'number' ? 1 : Math.max(input.length, 1)
}

/** Returns null if the input is text. */
export function countTokenIds(input: TextInput): number | null {
  if (typeof input === 'string' || typeof input[0] === 'string') return null
  if (typeof input[0] === 'number') return input.length
  let tokens = 0
  for (const entry of input) if (Array.isArray(entry)) tokens += entry.length
  return tokens
}

/** Returns an empty list if the input is token ids. */
export function textsOf(input: TextInput): readonly string[] {
  if (typeof input === 'string') return [input]
  return input.filter((entry) => typeof entry === 'string')
}
