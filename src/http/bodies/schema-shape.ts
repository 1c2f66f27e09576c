import { isRecord } from '../../kernel/is-record.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

/** The JSON Schema keywords that describe the content of a value, as far as our schemas use them. */
export interface SchemaShape extends ValueBounds {
  readonly type?: string
  readonly description?: string
  readonly const?: string | number | boolean
  readonly enum?: readonly (string | number | boolean | null)[]
  readonly anyOf?: readonly SchemaShape[]
  readonly properties?: Readonly<Record<string, SchemaShape>>
  readonly patternProperties?: Readonly<Record<string, SchemaShape>>
  readonly propertyNames?: { readonly maxLength: number }
  readonly additionalProperties?: unknown
  readonly required?: readonly string[]
  readonly items?: SchemaShape
  readonly maxItems?: number
}

/** The JSON Schema keywords that limit a value, as far as our schemas use them. */
export interface ValueBounds {
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly format?: string
}

/** Returns the branches of a schema, including those of nested unions. */
export function branchesOf(schema: SchemaShape): readonly SchemaShape[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(branchesOf)
}

const TYPES = lookupTable<(value: unknown) => boolean>({
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isRecord,
})

/** Returns whether the value has the type of the schema. Ignores the other keywords. */
export function isOfType({ type }: SchemaShape, value: unknown): boolean {
  return type === undefined || (TYPES[type]?.(value) ?? true)
}
