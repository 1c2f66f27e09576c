/**
 * The JSON text of a value that was itself read from JSON. The engine's own writer overflows the stack some thousand levels deep, while
 * its parser reads any depth: such a value is written without recursion.
 */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return stringifyDeep(value)
  }
}

/** What is still to be written, last first: text as it stands, or a value. */
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
