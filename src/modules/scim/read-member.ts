import { isRecord } from '../../kernel/is-record.ts'
import { scimError } from './scim-error.ts'

/** Attributes by their names in lower case, because SCIM does not tell cases apart. */
export type Attributes = ReadonlyMap<string, unknown>

/** Of a resource without its extensions, which are ignored. */
export function attributesOf(value: unknown): Attributes {
  if (!isRecord(value)) throw scimError('invalidSyntax', 'A resource is a JSON object.')
  return new Map(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]))
}

/** Returns null for an attribute that is absent, null or empty. Some directories wrap a single value into a list. */
export function readText(attributes: Attributes, name: string, lengthMax: number): string | null {
  const value = unwrap(attributes.get(name.toLowerCase()))
  if (value === undefined || value === null || value === '') return null
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof text !== 'string') throw scimError('invalidValue', `${name} must be text.`)
  if (text.length > lengthMax)
    throw scimError('invalidValue', `${name} is longer than ${lengthMax} characters.`)
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  if (/[\u0000-\u001f\u007f]/.test(text)) throw scimError('invalidValue', `${name} has control characters.`)
  return text
}

/** Entra sends booleans as the texts `True` and `False`. */
export function readBoolean(attributes: Attributes, name: string): boolean | null {
  const value = unwrap(attributes.get(name.toLowerCase()))
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (text === 'true') return true
  if (text === 'false') return false
  throw scimError('invalidValue', `${name} must be true or false.`)
}

function unwrap(value: unknown): unknown {
  const only = Array.isArray(value) && value.length === 1 ? value[0] : value
  return isRecord(only) && 'value' in only ? only['value'] : only
}
