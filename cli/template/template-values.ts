/** Whether a value counts as true: not false, 0, empty or null. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'object' || typeof value === 'string') return lengthOf(value) > 0
  return value !== undefined && value !== false && value !== 0
}

/** How many elements, members or characters a value has. 0 for anything else. */
export function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Array.from(value).length
  if (typeof value !== 'object' || value === null) return 0
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

/** The member of an object or the element of a list. Undefined where there is none. */
export function memberOf(value: unknown, name: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  if (Array.isArray(value) && typeof name !== 'number') return undefined
  return (value as Record<string | number, unknown>)[name]
}

/** What is printed of a value: nothing for null and what is missing, JSON for lists and objects. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  return JSON.stringify(value)
}
