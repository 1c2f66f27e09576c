import { Type } from 'typebox'
import { isRecord } from '../../kernel/is-record.ts'

/** What `JSON.stringify` makes of a `Buffer`, and of a `Uint8Array`: an object with an index for each byte. */
export const ByteValues = Type.Object({}, { description: 'Bytes, as `JSON.stringify` writes them.' })

/** Reads such bytes. Returns null if the value is something else. The number of values in a body has its own limit. */
export function readByteValues(given: unknown, bytesMax: number): Buffer | 'too_large' | null {
  if (!isRecord(given)) return null
  const values: unknown =
    given['type'] === 'Buffer' ? given['data'] : Object.hasOwn(given, '0') ? Object.values(given) : null
  if (!Array.isArray(values) || values.length === 0) return null
  if (values.length > bytesMax) return 'too_large'
  if (given['type'] !== 'Buffer' && !Object.hasOwn(given, String(values.length - 1))) return null
  return values.every(isByte) ? Buffer.from(values) : null
}

function isByte(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
}
