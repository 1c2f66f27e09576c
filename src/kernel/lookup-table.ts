/**
 * Returns a table for lookups by text that comes from outside. Unlike a plain object, it has no prototype, so that names such as
 * `constructor` and `__proto__` find nothing.
 */
export function lookupTable<Value>(
  entries: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> {
  return Object.freeze(Object.assign(emptyRecord<Value>(), entries))
}

/** Returns an object without a prototype, to which members of any name can be added. */
export function emptyRecord<Value>(): Record<string, Value> {
  const record: Record<string, Value> = Object.create(null)
  return record
}
