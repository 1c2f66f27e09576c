import { isRecord } from '../../../kernel/is-record.ts'

/** Whether two values say the same. The order of members says nothing, and an absent member is like null. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return JSON.stringify(canonical(one)) === JSON.stringify(canonical(other))
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (!isRecord(value)) return value ?? null
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return members
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => [name, canonical(member)])
}
