import { parseJson as parseStrictly } from '../../../kernel/json/parse-json.ts'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Follows keys through nested objects. Undefined if one is missing. */
export function readPath(value: unknown, ...keys: readonly string[]): unknown {
  let current = value
  for (const key of keys) {
    if (!isRecord(current)) return undefined
    current = current[key]
  }
  return current
}

export function readString(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = readPath(value, ...keys)
  return typeof found === 'string' ? found : undefined
}

export function readNumber(value: unknown, ...keys: readonly string[]): number | undefined {
  const found = readPath(value, ...keys)
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

export function parseJson(text: string): unknown {
  try {
    return parseStrictly(text)
  } catch {
    return undefined
  }
}
