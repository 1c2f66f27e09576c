/**
 * Serialises a value that was parsed from JSON. `JSON.stringify` overflows the stack at some thousand levels, while `JSON.parse`
 * reads any depth, so very deep values are written without recursion.
 */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return stringifyDeep(value)
  }
}

/** A part still to be written, in reverse order: literal text or a value. */
type Pending = { readonly text: string } | { readonly value: unknown }

function stringifyDeep(root: unknown): string {
  const pieces: string[] = []
  const pending: Pending[] = [{ value: root }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) pieces.push(next.text)
    else if (typeof next.value !== 'object' || next.value === null)
      pieces.push(JSON.stringify(next.value) ?? 'null')
    else for (const part of listParts(next.value).toReversed()) pending.push(part)
  }
  return pieces.join('')
}

function listParts(value: object): Pending[] {
  if (Array.isArray(value)) {
    const items = value.flatMap((item: unknown, index): Pending[] => [
      { text: index === 0 ? '' : ',' },
      { value: item },
    ])
    return [{ text: '[' }, ...items, { text: ']' }]
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .flatMap(([name, member]: [string, unknown], index): Pending[] => [
      { text: `${index === 0 ? '' : ','}${JSON.stringify(name)}:` },
      { value: member },
    ])
  return [{ text: '{' }, ...members, { text: '}' }]
}
