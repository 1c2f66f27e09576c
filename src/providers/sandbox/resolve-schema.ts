import { isRecord } from '../../kernel/is-record.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/** What `#/$defs/name` points to within the same schema; an empty schema when it points nowhere. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return {}
  let target: unknown = root
  for (const segment of reference
    .slice(1)
    .split('/')
    .filter((part) => part !== '')) {
    const name = decodeSegment(segment)
    if (Array.isArray(target)) target = target[Number(name)]
    else target = isRecord(target) && Object.hasOwn(target, name) ? target[name] : {}
  }
  return target
}

function decodeSegment(segment: string): string {
  const unescaped = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(unescaped)
  } catch {
    return unescaped
  }
}

/** One schema that asks for what both ask for. Bounds are tightened; of other keywords the addition's are taken. */
export function mergeSchemas(base: unknown, addition: unknown): JsonSchema {
  const merged: Record<string, unknown> = isRecord(base) ? { ...base } : {}
  if (!isRecord(addition)) return merged
  for (const [keyword, value] of Object.entries(addition)) {
    if (value === undefined) continue
    merged[keyword] = merged[keyword] === undefined ? value : mergeKeyword(keyword, merged[keyword], value)
  }
  return merged
}

const LOWER_BOUNDS = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
const UPPER_BOUNDS = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])

function mergeKeyword(keyword: string, left: unknown, right: unknown): unknown {
  if (typeof left === 'number' && typeof right === 'number') {
    if (LOWER_BOUNDS.has(keyword)) return Math.max(left, right)
    if (UPPER_BOUNDS.has(keyword)) return Math.min(left, right)
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    if (keyword === 'required' || keyword === 'allOf') return [...left, ...right]
    if (keyword === 'enum' || keyword === 'type') return left.filter((value) => right.includes(value))
  }
  if (keyword === 'properties' && isRecord(left) && isRecord(right)) return mergeProperties(left, right)
  return right
}

function mergeProperties(left: JsonSchema, right: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...left }
  for (const [name, schema] of Object.entries(right)) {
    merged[name] = name in left ? { allOf: [left[name], schema] } : schema
  }
  return merged
}
