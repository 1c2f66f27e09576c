import { isRecord } from '../../../kernel/is-record.ts'
import type { JsonSchema } from './resolve-schema.ts'

const TEXT_LENGTH_MAX = 65_536
const CANDIDATES_MAX = 16
const EXAMPLE_DEPTH_MAX = 8

/**
 * Finds the schema that a prompt describes, for JSON answers without a schema: a JSON schema in the text, an example, or the
 * names of members. Null if it describes none.
 */
export function findDescribedSchema(text: string): JsonSchema | null {
  const bounded = text.slice(0, TEXT_LENGTH_MAX)
  let example: JsonSchema | null = null
  for (const value of listObjects(bounded)) {
    const schema = asSchema(value)
    if (schema !== null) return schema
    example ??= schemaOfExample(value, 0)
  }
  return example ?? schemaOfNames(bounded)
}

/** Yields the JSON objects in a text, outermost first. */
function* listObjects(text: string): Generator<Record<string, unknown>> {
  let position = 0
  for (let count = 0; count < CANDIDATES_MAX; count += 1) {
    const start = text.indexOf('{', position)
    if (start === -1) return
    const end = endOfObject(text, start)
    const value = end === null ? null : parseObject(text.slice(start, end))
    if (value !== null) yield value
    position = value === null || end === null ? start + 1 : end
  }
}

/** Returns the position after the closing brace that matches the one at `start`, or null if there is none. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0
  let isInString = false
  for (let index = start; index < text.length; index += 1) {
    const character = text[index]
    if (isInString) {
      if (character === '\\') index += 1
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === '{') depth += 1
    else if (character === '}' && --depth === 0) return index + 1
  }
  return null
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** Also accepts a schema that is wrapped with a name, as in `response_format`. */
function asSchema(value: Record<string, unknown>): JsonSchema | null {
  const wrapped = [value['json_schema'], value['schema'], value['parameters']].find(isRecord)
  if (isRecord(value['properties']) || typeof value['$ref'] === 'string') return value
  return wrapped === undefined ? null : asSchema(wrapped)
}

function schemaOfExample(value: unknown, depth: number): JsonSchema {
  if (depth > EXAMPLE_DEPTH_MAX || value === null) return { type: 'null' }
  if (Array.isArray(value)) {
    const items = schemaOfExample(value[0] ?? '', depth + 1)
    return { type: 'array', items, minItems: 1 }
  }
  if (isRecord(value)) {
    const members = Object.entries(value).map(([name, member]) => [name, schemaOfExample(member, depth + 1)])
    return { type: 'object', properties: Object.fromEntries(members), required: Object.keys(value) }
  }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' }
  return { type: typeof value === 'boolean' ? 'boolean' : 'string' }
}

const NAMES_PATTERN = /\b(?:keys?|fields?|members?|properties|attributes)\b([^.\n]{1,200})/i
const NAME_PATTERN = /["'`]([A-Za-z_]\w{0,63})["'`]/g

/** Reads quoted names after a word such as “keys”. */
function schemaOfNames(text: string): JsonSchema | null {
  const [, listed = ''] = NAMES_PATTERN.exec(text) ?? []
  const names = Array.from(listed.matchAll(NAME_PATTERN), ([, name = '']) => name)
  if (names.length === 0) return null
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  }
}
