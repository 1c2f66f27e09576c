import { isRecord } from '../../../src/kernel/is-record.ts'

export type Members = Readonly<Record<string, unknown>>

export function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

export function membersOf(value: unknown): Members {
  return isRecord(value) ? value : {}
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function countOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 1 ? Math.floor(value) : null
}

/** Returns the declared type and the bytes of a data URL, or null for other text. */
export function readDataUrl(url: string): { readonly type: string; readonly bytes: Buffer } | null {
  const match = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s.exec(url)
  if (match === null) return null
  const [, type = '', parameters = '', payload = ''] = match
  const bytes = parameters.includes(';base64')
    ? Buffer.from(payload, 'base64')
    : Buffer.from(decodeURIComponent(payload))
  return { type: type.toLowerCase(), bytes }
}
