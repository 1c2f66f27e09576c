import { lookupTable } from '../../../kernel/lookup-table.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import { refused, type Comparison, type FilterValue, type ScimFilter } from './parse-filter.ts'

/** How an attribute is compared in SQL. All text here is our own; what the client sent becomes a parameter. */
export type FilteredAttribute =
  /** Compared without case, as RFC 7643 says of most attributes. */
  | { readonly kind: 'text' | 'exact' | 'id' | 'time' | 'boolean'; readonly column: string }
  /** One of several values. The rows are a statement with a condition, of which the column is one value. */
  | {
      readonly kind: 'some'
      readonly rows: string
      readonly column: string
      /** By an index. The parameter is in lower case. */
      readonly equal?: (parameter: string) => string
    }

export type FilteredAttributes = Readonly<Record<string, FilteredAttribute>>

export function filteredAttributes(attributes: Record<string, FilteredAttribute>): FilteredAttributes {
  return lookupTable(attributes)
}

const NOTHING_WITHIN: Readonly<Record<string, FilteredAttributes>> = lookupTable({})

/**
 * Returns the condition of a filter, and adds its values to the parameters.
 * @param within reads the filter in brackets of an attribute with several values
 */
export function filterToSql(
  filter: ScimFilter,
  attributes: FilteredAttributes,
  values: unknown[],
  within: Readonly<Record<string, FilteredAttributes>> = NOTHING_WITHIN,
): string {
  const parameter = (value: unknown): string => `$${values.push(value)}`
  const read = (one: ScimFilter, known: FilteredAttributes): string => {
    if (one.op === 'and' || one.op === 'or')
      return `(${one.filters.map((each) => read(each, known)).join(one.op === 'and' ? ' AND ' : ' OR ')})`
    if (one.op === 'not') return `NOT coalesce(${read(one.filter, known)}, false)`
    const attribute = known[one.attribute]
    if (attribute === undefined) throw refused(`names an attribute that cannot be searched: ${one.attribute}`)
    if (one.op === 'some') {
      const inner = within[one.attribute]
      if (attribute.kind !== 'some' || inner === undefined) throw refused('has brackets where none can be')
      return `EXISTS (${attribute.rows} AND ${read(one.filter, inner)})`
    }
    if (attribute.kind === 'some') {
      if (one.op === 'pr') return `EXISTS (${attribute.rows})`
      if (one.op === 'eq' && attribute.equal !== undefined && typeof one.value === 'string')
        return attribute.equal(parameter(one.value.toLowerCase()))
      return `EXISTS (${attribute.rows} AND ${compare(one.op, { kind: 'text', column: attribute.column }, one.value, parameter)})`
    }
    if (one.op === 'pr') return `(${attribute.column} IS NOT NULL AND ${attribute.column}::text <> '')`
    return compare(one.op, attribute, one.value, parameter)
  }
  return read(filter, attributes)
}

const ORDER: Readonly<Partial<Record<Comparison, string>>> = { gt: '>', ge: '>=', lt: '<', le: '<=' }
const BOOLEANS: Readonly<Record<string, boolean>> = lookupTable({ true: true, false: false })

function compare(
  op: Comparison,
  { kind, column }: Exclude<FilteredAttribute, { kind: 'some' }>,
  value: FilterValue,
  parameter: (value: unknown) => string,
): string {
  if (value === null) {
    if (op === 'eq') return `${column} IS NULL`
    if (op === 'ne') return `${column} IS NOT NULL`
    throw refused('compares with null')
  }
  const order = ORDER[op]
  if (kind === 'boolean') {
    const meant = typeof value === 'string' ? BOOLEANS[value.toLowerCase()] : value
    if (typeof meant !== 'boolean' || (op !== 'eq' && op !== 'ne'))
      throw refused('compares a boolean with something else')
    return `${column} ${op === 'eq' ? '=' : '<>'} ${parameter(meant)}::boolean`
  }
  const text = String(value)
  if (kind === 'time') {
    const ms = Date.parse(text)
    if (Number.isNaN(ms)) throw refused('compares a time with something else')
    if (order === undefined && op !== 'eq') throw refused('compares a time as text')
    return `${column} ${order ?? '='} ${parameter(new Date(ms))}::timestamptz`
  }
  if (order !== undefined) throw refused(`cannot say ${op} of text`)
  if (kind === 'id') {
    // A text that is no id finds nothing.
    if (op === 'eq') return isUuid(text) ? `${column} = ${parameter(text)}::uuid` : 'false'
    if (op === 'ne') return isUuid(text) ? `${column} <> ${parameter(text)}::uuid` : 'true'
  }
  const [side, sought] =
    kind === 'text'
      ? [`lower(${column})`, `lower(${parameter(text)}::text)`]
      : [`${column}::text`, `${parameter(text)}::text`]
  if (op === 'eq') return `${side} = ${sought}`
  if (op === 'ne') return `${side} IS DISTINCT FROM ${sought}`
  if (op === 'sw') return `starts_with(${side}, ${sought})`
  if (op === 'ew') return `right(${side}, length(${sought})) = ${sought}`
  return `strpos(${side}, ${sought}) > 0`
}
