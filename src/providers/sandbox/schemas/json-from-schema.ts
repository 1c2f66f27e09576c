import { isRecord } from '../../../kernel/is-record.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import { createFlattener, FULL_DEPTH, type FlattenSchema } from './flatten-schema.ts'
import { numberFromSchema } from './number-from-schema.ts'
import type { JsonSchema } from './resolve-schema.ts'
import type { SeededRandom } from '../../../kernel/seeded-random.ts'
import { stringFromSchema } from './string-from-schema.ts'
import { createWorkBudget, isSpent, type WorkBudget } from '../work-budget.ts'

export interface JsonFromSchemaOptions {
  readonly random: SeededRandom
  /** Returns plausible values for a property. The first that its schema allows is used. */
  readonly suggest?: (propertyName: string, type: 'string' | 'number' | 'enum') => readonly unknown[]
  readonly budget?: WorkBudget
}

/** Below this depth values are null. */
const DEPTH_MAX = 24
const ITEMS_MAX = 1000

/** Generates a value that a JSON schema accepts. The work is bounded, also for recursive schemas. */
export function jsonFromSchema(schema: unknown, options: JsonFromSchemaOptions): unknown {
  const budget = options.budget ?? createWorkBudget()
  const flatten = createFlattener(schema, budget)
  const maker: Maker = { options, budget, flatten, shapes: new Map(), enums: new Map() }
  return makeValue(maker, { schema, name: '', depth: 0 })
}

interface Maker {
  readonly options: JsonFromSchemaOptions
  readonly budget: WorkBudget
  readonly flatten: FlattenSchema
  /** Cached results for a schema. */
  readonly shapes: Map<JsonSchema, ObjectShape>
  readonly enums: Map<readonly unknown[], ReadonlyMap<string, unknown>>
}

interface Place {
  readonly schema: unknown
  /** Name of the nearest property, for plausible values. */
  readonly name: string
  readonly depth: number
}

function makeValue(maker: Maker, place: Place): unknown {
  maker.budget.valuesLeft -= 1
  if (place.depth > DEPTH_MAX || isSpent(maker.budget)) return null
  const schema = maker.flatten(place.schema, place.depth)
  if ('const' in schema) return spendGiven(maker, schema['const'])
  if (Array.isArray(schema['enum'])) return spendGiven(maker, pickEnum(maker, place.name, schema['enum']))
  return MAKERS[chooseType(schema, place.depth)](maker, place, schema)
}

/** Charges the budget for values copied from the schema, which may be large and used many times. */
function spendGiven(maker: Maker, value: unknown): unknown {
  maker.budget.charactersLeft -= stringifyJson(value).length
  return isSpent(maker.budget) ? null : value
}

const MAKERS = {
  object: makeObject,
  array: makeArray,
  string: (maker: Maker, { name }: Place, schema: JsonSchema) => {
    const { random, suggest } = maker.options
    const text = stringFromSchema(schema, {
      propertyName: name,
      random,
      suggestions: suggest?.(name, 'string') ?? [],
      budget: maker.budget,
    })
    maker.budget.charactersLeft -= text.length
    return text
  },
  number: (maker: Maker, { name }: Place, schema: JsonSchema) =>
    numberFromSchema(schema, false, maker.options.random, maker.options.suggest?.(name, 'number') ?? []),
  integer: (maker: Maker, { name }: Place, schema: JsonSchema) =>
    numberFromSchema(schema, true, maker.options.random, maker.options.suggest?.(name, 'number') ?? []),
  boolean: (maker: Maker) => maker.options.random.below(2) === 0,
  null: () => null,
} satisfies Record<string, (maker: Maker, place: Place, schema: JsonSchema) => unknown>

type TypeName = keyof typeof MAKERS

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
  return first ?? TYPE_BY_KEYWORD.find(([keyword]) => Object.hasOwn(schema, keyword))?.[1] ?? 'string'
}

function isTypeName(value: unknown): value is TypeName {
  return typeof value === 'string' && Object.hasOwn(MAKERS, value)
}

function pickEnum(maker: Maker, name: string, values: readonly unknown[]): unknown {
  const { random, suggest } = maker.options
  const suggested = suggest?.(name, 'enum') ?? []
  if (suggested.length > 0) {
    const byName = maker.enums.get(values) ?? nameValues(maker, values)
    const mentioned = suggested
      .map((word) => byName.get(String(word).toLowerCase()))
      .find((value) => value !== undefined)
    if (mentioned !== undefined) return mentioned
  }
  return values[random.below(values.length)] ?? null
}

function nameValues(maker: Maker, values: readonly unknown[]): ReadonlyMap<string, unknown> {
  maker.budget.stepsLeft -= values.length
  const texts = values.filter((value) => typeof value === 'string')
  const byName = new Map(texts.map((value) => [value.toLowerCase(), value]))
  maker.enums.set(values, byName)
  return byName
}

/** The properties of an object and their order. */
interface ObjectShape {
  readonly properties: JsonSchema
  readonly required: readonly string[]
  readonly optional: readonly string[]
  readonly countMin: number
  readonly countMax: number
}

function readShape(maker: Maker, schema: JsonSchema): ObjectShape {
  const known = maker.shapes.get(schema)
  if (known !== undefined) return known
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  const named = Object.keys(properties)
  const wanted = new Set(Array.isArray(schema['required']) ? schema['required'].map(String) : [])
  maker.budget.stepsLeft -= named.length + wanted.size
  const shape = {
    properties,
    required: [...new Set([...named.filter((name) => wanted.has(name)), ...wanted])],
    optional: named.filter((name) => !wanted.has(name) && properties[name] !== false),
    countMin: Math.min(readCount(schema['minProperties'], 0), ITEMS_MAX),
    countMax: readCount(schema['maxProperties'], Number.MAX_SAFE_INTEGER),
  }
  maker.shapes.set(schema, shape)
  return shape
}

function makeObject(maker: Maker, place: Place, schema: JsonSchema): Record<string, unknown> {
  const { properties, required, optional, countMin, countMax } = readShape(maker, schema)
  const made: [string, unknown][] = []
  const add = (name: string, propertySchema: unknown) => {
    maker.budget.charactersLeft -= name.length
    if (!isSpent(maker.budget))
      made.push([name, makeValue(maker, { schema: propertySchema, name, depth: place.depth + 1 })])
  }
  for (const name of required)
    add(name, Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'])
  const wanted = place.depth < FULL_DEPTH ? countMax : countMin
  for (const name of optional) {
    if (made.length >= wanted || isSpent(maker.budget)) break
    add(name, properties[name])
  }
  for (let index = made.length; index < countMin && !isSpent(maker.budget); index += 1)
    add(`property_${index}`, schema['additionalProperties'])
  // Use `fromEntries`, because a schema may name a property `__proto__`.
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
    if (isSpent(maker.budget)) return items
    if (schema['uniqueItems'] === true) {
      let name = nameItem(maker, item)
      for (let tries = 0; seen.has(name); tries += 1) {
        // If there are not enough distinct values, a shorter list is better than a repeated item.
        if (tries === REPEATS_MAX) return items
        item = makeValue(maker, itemPlace)
        name = nameItem(maker, item)
      }
      seen.add(name)
    }
    items.push(item)
  }
  return items
}

function nameItem(maker: Maker, item: unknown): string {
  const name = stringifyJson(item)
  maker.budget.charactersLeft -= name.length
  return name
}

function readCount(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise
}
