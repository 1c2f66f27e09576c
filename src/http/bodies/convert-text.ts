import { isRecord } from '../../kernel/is-record.ts'
import { branchesOf, type SchemaShape } from './schema-shape.ts'

/**
 * Converts text from a query, a path or a form to numbers, booleans and nulls. Accepts only JSON notation: other text that
 * `Number` would accept, such as ` 5` or `0x5`, stays text and fails the validation that follows.
 */
export function convertText(schema: SchemaShape, value: unknown): unknown {
  if (typeof value === 'string') return convertOne(branchesOf(schema), value)
  if (Array.isArray(value)) {
    const items = branchesOf(schema).find((branch) => branch.items !== undefined)?.items
    return items === undefined ? value : value.map((item) => convertText(items, item))
  }
  const properties = branchesOf(schema).find((branch) => branch.properties !== undefined)?.properties
  if (!isRecord(value) || properties === undefined) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, property === undefined ? member : convertText(property, member)]
    }),
  )
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/
const NUMBER = /^-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?$/

function convertOne(branches: readonly SchemaShape[], text: string): unknown {
  if (branches.some((branch) => takesText(branch, text))) return text
  for (const { type, enum: values } of branches) {
    if (values !== undefined && NUMBER.test(text) && values.includes(Number(text))) return Number(text)
    if (type === 'integer' && INTEGER.test(text)) return Number(text)
    if (type === 'number' && NUMBER.test(text)) return Number(text)
    if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
    if (type === 'null' && (text === 'null' || text === '')) return null
  }
  return text
}

function takesText({ type, const: only, enum: values }: SchemaShape, text: string): boolean {
  if (only !== undefined) return only === text
  return values === undefined ? type === 'string' : values.includes(text)
}
