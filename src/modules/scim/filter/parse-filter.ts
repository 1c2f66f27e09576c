import { parse, type Filter } from 'scim2-parse-filter'
import { scimError } from '../scim-error.ts'

/** A comparison, or several of them. The names of attributes are in lower case and without the URN of their schema. */
export type ScimFilter =
  | { readonly op: 'and'; readonly filters: readonly ScimFilter[] }
  | { readonly op: 'or'; readonly filters: readonly ScimFilter[] }
  | { readonly op: 'not'; readonly filter: ScimFilter }
  | { readonly op: 'some'; readonly attribute: string; readonly filter: ScimFilter }
  | { readonly op: 'pr'; readonly attribute: string }
  | { readonly op: Comparison; readonly attribute: string; readonly value: FilterValue }

export type FilterValue = string | number | boolean | null
export type Comparison = (typeof COMPARISONS)[number]

const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
const LENGTH_MAX = 2_000
const DEPTH_MAX = 10
const TERMS_MAX = 50
/** The parser takes exponential time for line breaks within an open quote. */
// oxlint-disable-next-line no-control-regex -- control characters are what it refuses
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029]/
const URN = /^urn:.*:/i

/** Parses a filter within bounds. Throws `invalidFilter`. */
export function parseFilter(text: string): ScimFilter {
  if (text.length > LENGTH_MAX) throw refused(`is longer than ${LENGTH_MAX} characters`)
  if (CONTROL.test(text)) throw refused('has control characters')
  let parsed: Filter
  try {
    parsed = parse(text)
  } catch {
    throw refused('cannot be read; an example is userName eq "grace@example.com"')
  }
  let terms = 0
  const read = (filter: Filter, depth: number): ScimFilter => {
    terms += 1
    if (depth > DEPTH_MAX || terms > TERMS_MAX)
      throw refused(`nests deeper than ${DEPTH_MAX} or has more than ${TERMS_MAX} terms`)
    if (filter.op === 'and' || filter.op === 'or')
      return { op: filter.op, filters: filter.filters.map((one) => read(one, depth + 1)) }
    if (filter.op === 'not') return { op: 'not', filter: read(filter.filter, depth + 1) }
    // The parser passes on operators that it does not know.
    if (!('attrPath' in filter)) throw refused('has an unknown operator')
    const attribute = attributeOf(filter.attrPath)
    if (filter.op === '[]') return { op: 'some', attribute, filter: read(filter.valFilter, depth + 1) }
    if (filter.op === 'pr') return { op: 'pr', attribute }
    const op = COMPARISONS.find((known) => known === filter.op)
    if (op === undefined) throw refused('has an unknown operator')
    return { op, attribute, value: valueOf(filter.compValue) }
  }
  return read(parsed, 1)
}

export function refused(why: string): Error {
  return scimError('invalidFilter', `The filter ${why}.`)
}

function attributeOf(path: string): string {
  return path.replace(URN, '').toLowerCase()
}

/** The parser leaves escapes of JSON other than those of quotes as they are. */
function valueOf(value: FilterValue): FilterValue {
  if (typeof value !== 'string' || !value.includes('\\')) return value
  try {
    const read: unknown = JSON.parse(`"${value.replaceAll('"', '\\"')}"`)
    return typeof read === 'string' && !CONTROL.test(read) ? read : value
  } catch {
    // A backslash that no client escaped, as in DOMAIN\name.
    return value
  }
}
