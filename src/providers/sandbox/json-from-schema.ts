import { isRecord } from '../../kernel/is-record.ts'
import { mergeSchemas, resolveReference, type JsonSchema } from './resolve-schema.ts'
import { numberFromSchema } from './number-from-schema.ts'
import type { SeededRandom } from './seeded-random.ts'
import { stringFromSchema } from './string-from-schema.ts'

export interface JsonFromSchemaOptions {
  readonly random: SeededRandom
  /** Values that would suit a property; the first that its schema allows is taken. */
  readonly suggest?: (propertyName: string, type: 'string' | 'number' | 'enum') => readonly unknown[]
}

/** Deep enough for real schemas; behind it only what is required is made, and then nothing. */
const FULL_DEPTH = 4
const DEPTH_MAX = 24
const VALUES_MAX = 5000
const ITEMS_MAX = 1000

/** Makes a value that a JSON schema accepts. Bounded, also for schemas that refer to themselves. */
export function jsonFromSchema(schema: unknown, options: JsonFromSchemaOptions): unknown {
  const maker: Maker = { root: schema, options, valuesLeft: VALUES_MAX }
  return makeValue(maker, { schema, name: '', depth: 0 })
}

interface Maker {
  readonly root: unknown
  readonly options: JsonFromSchemaOptions
  valuesLeft: number
}

interface Place {
  readonly schema: unknown
  /** Of the nearest property, for plausible values. */
  readonly name: string
  readonly depth: number
}

function makeValue(maker: Maker, place: Place): unknown {
  maker.valuesLeft -= 1
  if (place.depth > DEPTH_MAX || maker.valuesLeft < 0) return null
  const schema = flattenSchema(maker, place)
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return pickEnum(maker, place.name, schema['enum'])
  return MAKERS[chooseType(schema, place.depth)](maker, { ...place, schema }, schema)
}

const MAKERS = {
  object: makeObject,
  array: makeArray,
  string: (maker: Maker, { name }: Place, schema: JsonSchema) =>
    stringFromSchema(schema, name, maker.options.random, maker.options.suggest?.(name, 'string') ?? []),
  number: (maker: Maker, { name }: Place, schema: JsonSchema) =>
    numberFromSchema(schema, false, maker.options.random, maker.options.suggest?.(name, 'number') ?? []),
  integer: (maker: Maker, { name }: Place, schema: JsonSchema) =>
    numberFromSchema(schema, true, maker.options.random, maker.options.suggest?.(name, 'number') ?? []),
  boolean: (maker: Maker) => maker.options.random.integerBelow(2) === 0,
  null: () => null,
} satisfies Record<string, (maker: Maker, place: Place, schema: JsonSchema) => unknown>

type TypeName = keyof typeof MAKERS

const COMBINATIONS_MAX = 32

/** Follows references and takes one branch of each choice, until a schema of plain keywords is left. */
function flattenSchema(maker: Maker, place: Place): JsonSchema {
  let schema: JsonSchema = isRecord(place.schema) ? place.schema : {}
  for (let count = 0; count < COMBINATIONS_MAX; count += 1) {
    const { $ref: reference, allOf, anyOf, oneOf, ...rest } = schema
    if (typeof reference === 'string') {
      schema = mergeSchemas(resolveReference(maker.root, reference), { allOf, anyOf, oneOf, ...rest })
    } else if (Array.isArray(allOf)) {
      schema = allOf.reduce<JsonSchema>(mergeSchemas, { anyOf, oneOf, ...rest })
    } else if (Array.isArray(anyOf) && anyOf.length > 0) {
      schema = mergeSchemas({ oneOf, ...rest }, chooseBranch(maker, anyOf, place.depth))
    } else if (Array.isArray(oneOf) && oneOf.length > 0) {
      schema = mergeSchemas(rest, chooseBranch(maker, oneOf, place.depth))
    } else return rest
  }
  return {}
}

// Deep down the branch that ends soonest, so that a list of lists of lists comes to an end.
function chooseBranch(maker: Maker, branches: readonly unknown[], depth: number): unknown {
  if (depth < FULL_DEPTH) return branches[0]
  const weigh = (branch: unknown): number => {
    if (!isRecord(branch)) return 0
    if (typeof branch['$ref'] === 'string') {
      const target = resolveReference(maker.root, branch['$ref'])
      return 3 + (isRecord(target) && Array.isArray(target['required']) ? target['required'].length : 0)
    }
    return branch['type'] === 'object' ? 2 : branch['type'] === 'array' ? 1 : 0
  }
  return branches.toSorted((left, right) => weigh(left) - weigh(right))[0]
}

const TYPE_BY_KEYWORD: readonly [string, TypeName][] = [
  ['properties', 'object'],
  ['required', 'object'],
  ['additionalProperties', 'object'],
  ['minProperties', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
  ['minItems', 'array'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['multipleOf', 'number'],
]

function chooseType(schema: JsonSchema, depth: number): TypeName {
  const { type } = schema
  const named: unknown[] = Array.isArray(type) ? type : [type]
  const known = named.filter(isTypeName)
  if (depth >= FULL_DEPTH && known.includes('null')) return 'null'
  const first = known.find((name) => name !== 'null') ?? known[0]
  return first ?? TYPE_BY_KEYWORD.find(([keyword]) => keyword in schema)?.[1] ?? 'string'
}

function isTypeName(value: unknown): value is TypeName {
  return typeof value === 'string' && Object.hasOwn(MAKERS, value)
}

function pickEnum(maker: Maker, name: string, values: readonly unknown[]): unknown {
  const { random, suggest } = maker.options
  const suggested = suggest?.(name, 'enum').map((value) => String(value).toLowerCase()) ?? []
  const mentioned = values.find(
    (value) => typeof value === 'string' && suggested.includes(value.toLowerCase()),
  )
  return mentioned ?? values[random.integerBelow(values.length)] ?? null
}

function makeObject(maker: Maker, place: Place, schema: JsonSchema): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : []
  const optional = Object.keys(properties).filter(
    (name) => !required.includes(name) && properties[name] !== false,
  )
  const room = readCount(schema['maxProperties'], VALUES_MAX) - required.length
  const wanted = place.depth < FULL_DEPTH ? optional.slice(0, Math.max(0, room)) : []
  const names = new Set([
    ...Object.keys(properties).filter((name) => required.includes(name)),
    ...required,
    ...wanted,
  ])

  const made: [string, unknown][] = []
  const add = (name: string, propertySchema: unknown) => {
    made.push([name, makeValue(maker, { schema: propertySchema, name, depth: place.depth + 1 })])
  }
  for (const name of names)
    add(name, Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'])
  const countMin = Math.min(readCount(schema['minProperties'], 0), ITEMS_MAX)
  for (const name of optional) if (made.length < countMin && !names.has(name)) add(name, properties[name])
  for (let index = made.length; index < countMin; index += 1)
    add(`property_${index}`, schema['additionalProperties'])
  // From entries, because a schema may name a property `__proto__`.
  return Object.fromEntries(made)
}

const REPEATS_MAX = 20

function makeArray(maker: Maker, place: Place, schema: JsonSchema): unknown[] {
  const prefix: unknown[] = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []
  const countMin = Math.min(readCount(schema['minItems'], 0), ITEMS_MAX)
  const usual = place.depth < FULL_DEPTH ? Math.max(2, prefix.length) : 0
  const mayGrow = schema['items'] !== false
  const wanted = mayGrow ? usual : Math.min(usual, prefix.length)
  const count = Math.max(countMin, Math.min(wanted, readCount(schema['maxItems'], ITEMS_MAX)))

  const items: unknown[] = []
  const seen = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    const itemPlace = { schema: prefix[index] ?? schema['items'], name: place.name, depth: place.depth + 1 }
    let item = makeValue(maker, itemPlace)
    for (let tries = 0; schema['uniqueItems'] === true && seen.has(JSON.stringify(item)); tries += 1) {
      // Fewer distinct values than wanted: a short list is better than a repeated item.
      if (tries === REPEATS_MAX) return items
      item = makeValue(maker, itemPlace)
    }
    seen.add(JSON.stringify(item))
    items.push(item)
  }
  return items
}

function readCount(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise
}
