import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'

export type JsonObject = { [name: string]: unknown }

/** Converts a schema to plain JSON and replaces its named parts by references to the components. */
export type SchemaReader = (schema: TSchema) => JsonObject

/** Returns the members of an object schema and the names of the required ones. */
export function membersOf(schema: TSchema | undefined): {
  properties: Record<string, TSchema>
  required: string[]
} {
  const { properties = {}, required = [] }: { properties?: Record<string, TSchema>; required?: string[] } =
    schema ?? {}
  return { properties, required }
}

/** Collects the schemas that have a name (`$id` or `title`), so that the document has each of them once. */
export function collectComponents(initial: Record<string, JsonObject>): {
  read: SchemaReader
  all(): Record<string, JsonObject>
} {
  const components = new Map(Object.entries(initial))
  const references = new Map<object, JsonObject>()

  const read = (schema: TSchema): JsonObject => {
    const known = references.get(schema)
    if (known) return known
    const { description, '~describes': shared }: { description?: string; '~describes'?: unknown } = schema
    if (isSchema(shared)) return { ...read(shared), description }
    const name = nameOf(schema)
    const plain = liftDescription(readObject(schema))
    if (name === null) return plain
    const reference = { $ref: `#/components/schemas/${place(name, plain)}` }
    references.set(schema, reference)
    return reference
  }

  // Different schemas may have the same title, so the second one gets a number.
  const place = (name: string, plain: JsonObject): string => {
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? name : `${name}${number}`
      const taken = components.get(candidate)
      if (taken && !isDeepStrictEqual(taken, plain)) continue
      components.set(candidate, plain)
      return candidate
    }
  }

  const readObject = (schema: object): JsonObject =>
    Object.fromEntries(
      Object.entries(schema)
        // An `$id` would change the base that references inside the document are resolved against.
        .filter(([key, value]) => key !== '$id' && !key.startsWith('~') && value !== undefined)
        .map(([key, value]) => [key, readKeyword(key, value)]),
    )

  const readKeyword = (key: string, value: unknown): unknown => {
    if (key === '$ref' && typeof value === 'string') return toReference(value)
    if (LITERAL_KEYWORDS.has(key) || typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => (isSchema(item) ? read(item) : item))
    if (MAP_KEYWORDS.has(key)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [
          name,
          isSchema(part) ? describeField(read(part)) : part,
        ]),
      )
    }
    return read(value)
  }

  /** Adds the description of the referenced schema to a field without its own. */
  const describeField = (field: JsonObject): JsonObject => {
    const { $ref } = field
    if ('description' in field || typeof $ref !== 'string') return field
    const description = components.get(componentOf($ref))?.['description']
    return description === undefined ? field : { ...field, description }
  }

  return {
    read,
    all: () => Object.fromEntries([...components].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  }
}

/** Moves the description of a nullable member from its only described variant to the member itself. */
function liftDescription(schema: JsonObject): JsonObject {
  if ('description' in schema || !Array.isArray(schema['anyOf'])) return schema
  const descriptions = schema['anyOf'].flatMap((part) =>
    isSchema(part) && 'description' in part ? [part.description] : [],
  )
  return descriptions.length === 1 ? { ...schema, description: descriptions[0] } : schema
}

/** Keywords with data as their value, not a schema. */
const LITERAL_KEYWORDS = new Set(['const', 'default', 'enum', 'examples', 'required', 'type'])

/** Keywords with a map of schemas by name. */
const MAP_KEYWORDS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nameOf(schema: TSchema): string | null {
  const { $id, title }: { $id?: unknown; title?: unknown } = schema
  const given = typeof $id === 'string' ? $id : title
  if (typeof given !== 'string') return null
  const words = given.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') || null
}

function componentOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function toReference(target: string): string {
  return target.startsWith('#') ? target : `#/components/schemas/${target}`
}
