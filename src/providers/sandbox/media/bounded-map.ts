export interface BoundedMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
}

/** Forgets the oldest entry once there are too many. */
export function createBoundedMap<Value>(sizeMax: number): BoundedMap<Value> {
  const entries = new Map<string, Value>()
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      const [oldest] = entries.keys()
      if (entries.size > sizeMax && oldest !== undefined) entries.delete(oldest)
    },
  }
}
