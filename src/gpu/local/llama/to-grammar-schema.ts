import type { GbnfJsonSchema } from 'node-llama-cpp'
import { invalidRequest } from './engine-error.ts'

type JsonObject = Readonly<Record<string, unknown>>

const NODES_MAX = 2_000
const DEPTH_MAX = 40
/** A larger minimum would make the grammar too large and is refused. */
const MINIMUM_MAX = 500
/** A larger maximum is enforced as this one, so that the answer obeys it too. */
const MAXIMUM_MAX = 50_000
/** A grammar of another writer contains no larger maximum. */
const OTHER_MAXIMUM_MAX = 500
const SCALARS = ['string', 'number', 'integer', 'boolean', 'null'] as const
const FORMATS = new Set(['date-time', 'time', 'date'])

interface TranslateOptions {
  /** Named by errors. */
  readonly param: string
  /** Whether `writeGrammar` writes the grammar. */
  readonly use: 'own_grammar' | 'other_grammar'
}

/**
 * Translates a client's JSON Schema into a schema for grammars. All properties are generated, required or not. Number ranges,
 * patterns and `not` cannot be enforced and are ignored, as is a large maximum in another writer's grammar. Throws a client error
 * for a schema that cannot be translated.
 */
export function toGrammarSchema(schema: JsonObject, options: TranslateOptions): GbnfJsonSchema {
  return new SchemaTranslator(options).translateRoot(schema)
}

class SchemaTranslator {
  readonly #options: TranslateOptions
  #nodes = 0
  #known: ReadonlySet<string> = new Set()

  constructor(options: TranslateOptions) {
    this.#options = options
  }

  translateRoot(schema: JsonObject): GbnfJsonSchema {
    const definitions = Object.entries({ ...objectOf(schema['definitions']), ...objectOf(schema['$defs']) })
    this.#known = new Set(definitions.map(([name]) => name))
    const root = this.#translate(schema, 0)
    if (definitions.length === 0) return root
    const $defs = Object.fromEntries(
      definitions.map(([name, definition]) => [name, this.#translate(definition, 1)]),
    )
    return { ...root, $defs } as GbnfJsonSchema
  }

  #translate(schema: unknown, depth: number): GbnfJsonSchema {
    this.#nodes += 1
    if (this.#nodes > NODES_MAX || depth > DEPTH_MAX) throw this.#refuse('is too large')
    if (schema === true) return ANYTHING
    if (!isObject(schema)) throw this.#refuse('has a part that is not an object')
    const shape = this.#translateShape(schema, depth)
    const { description } = schema
    return typeof description === 'string' ? { ...shape, description } : shape
  }

  #translateShape(schema: JsonObject, depth: number): GbnfJsonSchema {
    const { $ref, enum: choices, const: constant, anyOf, oneOf, allOf, type } = schema
    if ($ref !== undefined) return this.#translateReference($ref)
    if (constant !== undefined) return { const: this.#scalar(constant) }
    if (Array.isArray(choices)) return { enum: choices.map((choice) => this.#scalar(choice)) }
    const alternatives = anyOf ?? oneOf
    if (Array.isArray(alternatives) && alternatives.length > 0)
      return { oneOf: alternatives.map((one) => this.#translate(one, depth + 1)) }
    if (Array.isArray(allOf)) return this.#translateAll(schema, allOf, depth)
    if (Array.isArray(type))
      return { oneOf: type.map((one) => this.#translateShape({ ...schema, type: one }, depth + 1)) }
    if (type === 'object' || (type === undefined && 'properties' in schema))
      return this.#translateObject(schema, depth)
    if (type === 'array' || (type === undefined && 'items' in schema))
      return this.#translateArray(schema, depth)
    if (type === 'string') return this.#translateString(schema)
    const scalar = SCALARS.find((known) => known === type)
    if (scalar !== undefined) return { type: scalar }
    if (type === undefined) return ANYTHING
    throw this.#refuse('has an unknown type')
  }

  #translateReference(reference: unknown): GbnfJsonSchema {
    const name =
      typeof reference === 'string' ? /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference)?.[1] : undefined
    if (name === undefined || !this.#known.has(name))
      throw this.#refuse('has a $ref that is not to its own $defs')
    return { $ref: `#/$defs/${name}` } as GbnfJsonSchema
  }

  /** Merges object schemas into one with the properties of all. */
  #translateAll(schema: JsonObject, parts: readonly unknown[], depth: number): GbnfJsonSchema {
    const { allOf: _, ...own } = schema
    const all = [own, ...parts].filter((part) => isObject(part) && Object.keys(part).length > 0)
    const [only] = all
    if (all.length === 1) return this.#translate(only, depth + 1)
    const properties = all.map((part) => (isObject(part) ? objectOf(part['properties']) : {}))
    if (properties.some((found) => Object.keys(found).length === 0))
      throw this.#refuse('has an allOf of other things than objects')
    return this.#translateObject({ type: 'object', properties: Object.assign({}, ...properties) }, depth)
  }

  #translateObject(schema: JsonObject, depth: number): GbnfJsonSchema {
    const properties = Object.entries(objectOf(schema['properties']))
    const { additionalProperties } = schema
    const isOpen = properties.length === 0 && additionalProperties === undefined
    return {
      type: 'object',
      properties: Object.fromEntries(
        properties.map(([name, property]) => [name, this.#translate(property, depth + 1)]),
      ),
      additionalProperties: isObject(additionalProperties)
        ? this.#translate(additionalProperties, depth + 1)
        : isOpen || additionalProperties === true,
    }
  }

  #translateArray(schema: JsonObject, depth: number): GbnfJsonSchema {
    const { items, prefixItems } = schema
    const bounds = this.#readBounds(schema, 'minItems', 'maxItems')
    return {
      type: 'array',
      ...(isObject(items) ? { items: this.#translate(items, depth + 1) } : {}),
      ...(Array.isArray(prefixItems)
        ? { prefixItems: prefixItems.map((item) => this.#translate(item, depth + 1)) }
        : {}),
      ...bounds,
    }
  }

  #translateString(schema: JsonObject): GbnfJsonSchema {
    const format = String(schema['format'])
    if (FORMATS.has(format)) return { type: 'string', format } as GbnfJsonSchema
    return { type: 'string', ...this.#readBounds(schema, 'minLength', 'maxLength') }
  }

  /** Returns the bounds of a length that the schema has. Throws if nothing, or nothing that is short enough, obeys them. */
  #readBounds<Min extends string, Max extends string>(
    schema: JsonObject,
    minName: Min,
    maxName: Max,
  ): Partial<Record<Min | Max, number>> {
    const [min, max] = [this.#readBound(schema, minName), this.#readBound(schema, maxName)]
    if (min !== null && min > MINIMUM_MAX) throw this.#refuse(`has a ${minName} above ${MINIMUM_MAX}`)
    if (min !== null && max !== null && min > max) throw this.#refuse(`has a ${minName} above its ${maxName}`)
    const bounds: Partial<Record<string, number>> = {}
    if (min !== null) bounds[minName] = min
    if (max !== null && (this.#options.use === 'own_grammar' || max <= OTHER_MAXIMUM_MAX))
      bounds[maxName] = Math.min(max, MAXIMUM_MAX)
    return bounds
  }

  #readBound(schema: JsonObject, name: string): number | null {
    const value = schema[name]
    if (value === undefined || value === null) return null
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    throw this.#refuse(`has a ${name} that is not a natural number`)
  }

  #scalar(value: unknown): string | number | boolean | null {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number') return value
    throw this.#refuse('has a const or an enum of objects or arrays')
  }

  #refuse(what: string) {
    return invalidRequest(this.#options.param, `The schema ${what}; this engine cannot follow it.`)
  }
}

/** Any JSON value. */
const ANYTHING: GbnfJsonSchema = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'object', additionalProperties: true },
    { type: 'array' },
  ],
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
