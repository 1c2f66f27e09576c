import { isRecord } from '../../kernel/is-record.ts'

/** The keywords of JSON Schema that our schemas are made of, as far as they say what lies within a value. */
export interface SchemaShape {
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
}

/** The forms a value may have, those of unions within unions included. */
export function branchesOf(schema: SchemaShape): readonly SchemaShape[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(branchesOf)
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isRecord,
}

/** Whether it is of the kind that a schema speaks of, whatever else the schema asks for. */
export function isOfType({ type }: SchemaShape, value: unknown): boolean {
  return type === undefined || (TYPES[type]?.(value) ?? true)
}
