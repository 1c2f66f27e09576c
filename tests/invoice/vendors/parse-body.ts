import { isRecord } from '../../../src/kernel/is-record.ts'
import type { WorkPlan } from '../case.ts'

type Reader = WorkPlan['reader']

/**
 * Parses JSON as different servers do: most keep the last of two equal names, some the first, and some do not tell capital
 * letters from small ones.
 */
export function parseBody(text: string, reader: Reader): Record<string, unknown> | null {
  try {
    const value: unknown = reader === 'first' ? parseFirst(text) : JSON.parse(text)
    const read = reader === 'any case' ? foldNames(value) : value
    return isRecord(read) ? read : null
  } catch {
    return null
  }
}

function foldNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(foldNames)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toLowerCase(), foldNames(one)]))
}

/** Keeps the first of equal names. Fails on text that is not JSON, as `JSON.parse` does. */
function parseFirst(text: string): unknown {
  JSON.parse(text)
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)
  const next = (): string => tokens.next().value?.[0] ?? ''
  const readValue = (token: string): unknown => {
    if (token === '{') return readObject()
    if (token === '[') return readList()
    return JSON.parse(token)
  }
  const readObject = (): Record<string, unknown> => {
    const members = new Map<string, unknown>()
    for (let token = next(); token !== '}'; token = next()) {
      if (token === ',') continue
      const name: unknown = JSON.parse(token)
      next()
      const value = readValue(next())
      if (!members.has(String(name))) members.set(String(name), value)
    }
    return Object.fromEntries(members)
  }
  const readList = (): unknown[] => {
    const values: unknown[] = []
    for (let token = next(); token !== ']'; token = next()) if (token !== ',') values.push(readValue(token))
    return values
  }
  return readValue(next())
}
