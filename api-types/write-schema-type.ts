import { isRecord } from '../src/kernel/is-record.ts'

/** Writes a JSON schema of the OpenAPI document as a TypeScript type. */
export function writeSchemaType(schema: unknown): string {
  if (!isRecord(schema)) return 'unknown'
  const { $ref, anyOf, oneOf, allOf, type, const: constant } = schema
  if (typeof $ref === 'string') return writeReference($ref)
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(schema['enum'])) return unite(schema['enum'].map((value) => JSON.stringify(value)))
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return unite(choices.map(writeSchemaType))
  if (Array.isArray(allOf)) return allOf.map(writeSchemaType).join(' & ') || 'unknown'
  if (Array.isArray(type)) return unite(type.map((one) => writeSchemaType({ ...schema, type: one })))
  if (type === 'array') return `(${writeSchemaType(schema['items'])})[]`
  if (type === 'object' || schema['properties'] !== undefined) return writeObject(schema)
  return PLAIN_TYPES[String(type)] ?? 'unknown'
}

const PLAIN_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

function writeReference(reference: string): string {
  const name = reference.split('/').at(-1) ?? ''
  return `components['schemas'][${JSON.stringify(name)}]`
}

function unite(types: readonly string[]): string {
  return types.length === 0 ? 'never' : `(${[...new Set(types)].join(' | ')})`
}

function writeObject(schema: Record<string, unknown>): string {
  const { properties, patternProperties, additionalProperties, required } = schema
  const needed = new Set<unknown>(Array.isArray(required) ? required : [])
  const members = Object.entries(isRecord(properties) ? properties : {}).map(([name, member]) => {
    const question = needed.has(name) ? '' : '?'
    const absent = needed.has(name) ? '' : ' | undefined'
    return `${writeComment(member)}${JSON.stringify(name)}${question}: ${writeSchemaType(member)}${absent}`
  })
  if (members.length > 0) return `{ ${members.join('; ')} }`
  const values = isRecord(patternProperties) ? Object.values(patternProperties) : [additionalProperties]
  return `{ [name: string]: ${unite(values.map((value) => (isRecord(value) ? writeSchemaType(value) : 'unknown')))} }`
}

/** Editors show the description of a field where it is used. */
function writeComment(member: unknown): string {
  if (!isRecord(member) || typeof member['description'] !== 'string') return ''
  return `/** ${member['description'].replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */ `
}
