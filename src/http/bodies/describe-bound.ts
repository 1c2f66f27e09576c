import { isRecord } from '../../kernel/is-record.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'
import type { ValueBounds } from './schema-shape.ts'

/**
 * Returns what the schema expects of the value, in words that need no knowledge of JSON Schema. Returns null if no limit of the
 * value itself is violated, or one that has no words here.
 */
export function describeBound(schema: ValueBounds, value: unknown): string | null {
  if (typeof value === 'string') return describeText(schema, value)
  if (typeof value === 'number') return describeNumber(schema, value)
  if (Array.isArray(value))
    return describeCount(value.length, schema.minItems, schema.maxItems, ['entry', 'entries'])
  if (isRecord(value))
    return describeCount(Object.keys(value).length, schema.minProperties, schema.maxProperties, [
      'member',
      'members',
    ])
  return null
}

/** Says what a value of a JSON type is, for people. */
export const TYPE_NAMES = lookupTable<string>({
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
})

const FORMATS = lookupTable<string>({
  uuid: 'must be an id of this gateway, such as 0197a9b4-6f00-7c3e-9b1a-2d4c5e6f7a8b',
  'date-time': 'must be a time with its zone, such as 2026-01-31T12:00:00Z',
  date: 'must be a date, such as 2026-01-31',
  uri: 'must be an address, such as https://example.com/path',
  email: 'must be an e-mail address',
})

/** A character outside the basic plane counts once, as in the schema. A text that is too long in any case is not counted. */
function countCharacters(value: string, maxLength = LENGTH_COUNTED_MAX): number {
  return value.length > 2 * maxLength ? Math.ceil(value.length / 2) : Array.from(value).length
}

const LENGTH_COUNTED_MAX = 100_000

function describeText({ minLength, maxLength, format }: ValueBounds, value: string): string | null {
  const long = describeCount(countCharacters(value, maxLength), minLength, maxLength, [
    'character',
    'characters',
  ])
  return long ?? (format === undefined ? null : (FORMATS[format] ?? null))
}

function describeNumber(schema: ValueBounds, value: number): string | null {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`
  if (above !== undefined && value <= above) return `must be more than ${above}`
  if (below !== undefined && value >= below) return `must be less than ${below}`
  return null
}

function describeCount(
  count: number,
  least: number | undefined,
  most: number | undefined,
  [one, many]: readonly [string, string],
): string | null {
  if (least !== undefined && count < least)
    return least === 1 ? 'must not be empty' : `must have at least ${least} ${many}`
  if (most !== undefined && count > most) return `must have at most ${most} ${most === 1 ? one : many}`
  return null
}
