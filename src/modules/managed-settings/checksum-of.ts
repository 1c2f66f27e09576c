import { hash } from 'node:crypto'
import { isRecord } from '../../kernel/is-record.ts'

/** Claude Code computes this of the settings that it has, and sends it as `If-None-Match`: SHA-256 of the JSON with sorted names. */
export function checksumOf(settings: unknown): string {
  return `sha256:${hash('sha256', JSON.stringify(sortNames(settings)))}`
}

function sortNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortNames)
  if (!isRecord(value)) return value
  // By code units, as the programs do that compare.
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sortNames(value[name])]),
  )
}
