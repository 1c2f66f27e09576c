const ITEMS_MAX = 1
const NUMBERS_MAX = 4
const TEXT_LENGTH_MAX = 120

/** Turns an answer into an example: short, without secrets and without the address of the test gateway. */
export function cutExample(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value)
  if (Array.isArray(value)) {
    const isNumbers = value.every((item) => typeof item === 'number')
    return value.slice(0, isNumbers ? NUMBERS_MAX : ITEMS_MAX).map(cutExample)
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutExample(member)]))
}

function cutText(text: string): string {
  const plain = text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:8080')
    .replaceAll(/pk-(dev|test|live|prod)-\w{20,}/g, 'pk-$1-…')
    .replaceAll(/\b(p[drt])-[\w-]{43}/g, '$1-…')
    .replaceAll(/whsec_[\w+/=]+/g, 'whsec_…')
    .replaceAll(/(\/media\/|\/checkout\/test\/)[\w.-]+/g, '$1…')
  return plain.length > TEXT_LENGTH_MAX ? `${plain.slice(0, TEXT_LENGTH_MAX)}…` : plain
}
