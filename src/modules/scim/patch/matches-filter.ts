import { attributesOf } from '../read-member.ts'
import { refused, type ScimFilter } from '../filter/parse-filter.ts'

/** Whether one of several values, such as an address, is the one that a path means. */
export function matchesFilter(value: object, filter: ScimFilter): boolean {
  const attributes = attributesOf(value)
  const test = (one: ScimFilter): boolean => {
    if (one.op === 'and') return one.filters.every(test)
    if (one.op === 'or') return one.filters.some(test)
    if (one.op === 'not') return !test(one.filter)
    if (one.op === 'some') throw refused('has brackets within brackets')
    const found = attributes.get(one.attribute)
    if (one.op === 'pr') return found !== undefined && found !== null && found !== ''
    const [text, sought] = [textOf(found), textOf(one.value)]
    if (one.op === 'eq') return text === sought
    if (one.op === 'ne') return text !== sought
    if (one.op === 'co') return text.includes(sought)
    if (one.op === 'sw') return text.startsWith(sought)
    if (one.op === 'ew') return text.endsWith(sought)
    throw refused(`cannot say ${one.op} in a path`)
  }
  return test(filter)
}

/** What a value has to be so that the filter matches it. Null if the filter does not say so exactly. */
export function exactlyMeant(filter: ScimFilter): Record<string, unknown> | null {
  if (filter.op === 'eq') return { [filter.attribute]: filter.value }
  if (filter.op !== 'and') return null
  const parts = filter.filters.map(exactlyMeant)
  return parts.every((part) => part !== null) ? Object.assign({}, ...parts) : null
}

/** Absent booleans are false: `primary` of the other addresses. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value.toLowerCase()
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'false'
}
