import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'

/** A block, or a part of one, before validation. */
export type Members = Readonly<Record<string, unknown>>

export function readText(block: Members, name: string, param: string): string {
  const value = block[name]
  if (typeof value === 'string') return value
  if (value === undefined || value === null) throw missing(`${param}.${name}`)
  throw invalidValue(`${param}.${name}`, `${param}.${name} must be a string.`)
}

export function readOptionalText(block: Members, name: string): string | null {
  const value = block[name]
  return typeof value === 'string' && value !== '' ? value : null
}

export function readMembers(block: Members, name: string, param: string): Members {
  const value = block[name]
  if (isRecord(value)) return value
  if (value === undefined || value === null) throw missing(`${param}.${name}`)
  throw invalidValue(`${param}.${name}`, `${param}.${name} must be an object.`)
}

/** Returns the blocks of a member. Plain text becomes one text block. */
export function readBlocks(value: unknown, param: string): readonly Members[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  if (Array.isArray(value) && value.every(isRecord)) return value
  throw invalidValue(param, `${param} must be a string or a list of content blocks.`)
}

function missing(param: string): AppError {
  return new AppError('missing_required_parameter', `${param} is required.`, { param })
}
