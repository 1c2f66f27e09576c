import { isRecord } from '../../../kernel/is-record.ts'
import { emptyRecord } from '../../../kernel/lookup-table.ts'
import type { WorkBudget } from '../work-budget.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

const REFERENCE_LENGTH_MAX = 1_000

/** Returns the target of a reference such as `#/$defs/name` within the same schema, or an empty schema if it does not exist. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#') || reference.length > REFERENCE_LENGTH_MAX) return {}
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

/**
 * Merges schemas into one that requires what all of them require. Bounds are tightened; for other keywords the last one wins.
 * Lists and objects are copied only once, regardless of the number of schemas.
 */
export function mergeSchemas(schemas: readonly unknown[], budget: WorkBudget): JsonSchema {
  const merged = emptyRecord<unknown>()
  const owned = new Set<unknown>()
  for (const schema of schemas) {
    if (!isRecord(schema)) continue
    for (const [keyword, value] of Object.entries(schema)) {
      budget.stepsLeft -= 1
      if (budget.stepsLeft < 0) return merged
      if (value === undefined) continue
      merged[keyword] =
        merged[keyword] === undefined
          ? value
          : mergeKeyword(keyword, merged[keyword], value, { owned, budget })
    }
  }
  return merged
}

interface Merging {
  /** Lists and objects that were created here and may be modified. */
  readonly owned: Set<unknown>
  readonly budget: WorkBudget
}

const LOWER_BOUNDS = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
const UPPER_BOUNDS = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])

function mergeKeyword(keyword: string, left: unknown, right: unknown, merging: Merging): unknown {
  if (typeof left === 'number' && typeof right === 'number') {
    if (LOWER_BOUNDS.has(keyword)) return Math.max(left, right)
    if (UPPER_BOUNDS.has(keyword)) return Math.min(left, right)
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    if (keyword === 'required' || keyword === 'allOf') return joinLists(left, right, merging)
    if (keyword === 'enum' || keyword === 'type') return shareOf(left, right, merging)
  }
  if (keyword === 'properties' && isRecord(left) && isRecord(right))
    return mergeProperties(left, right, merging)
  return right
}

function joinLists(left: unknown[], right: readonly unknown[], { owned, budget }: Merging): unknown[] {
  budget.stepsLeft -= right.length
  const joined = owned.has(left) ? left : [...left]
  owned.add(joined)
  for (const value of right) joined.push(value)
  return joined
}

function shareOf(left: readonly unknown[], right: readonly unknown[], { budget }: Merging): unknown[] {
  budget.stepsLeft -= left.length + right.length
  const allowed = new Set(right)
  return [...new Set(left)].filter((value) => allowed.has(value))
}

function mergeProperties(
  left: Record<string, unknown>,
  right: JsonSchema,
  { owned, budget }: Merging,
): JsonSchema {
  const merged = owned.has(left) ? left : Object.assign(emptyRecord<unknown>(), left)
  owned.add(merged)
  for (const [name, schema] of Object.entries(right)) {
    budget.stepsLeft -= 1
    const known = Object.hasOwn(merged, name) ? merged[name] : undefined
    if (known === undefined) merged[name] = schema
    else if (isRecord(known) && owned.has(known['allOf']) && Array.isArray(known['allOf']))
      known['allOf'].push(schema)
    else {
      const allOf = [known, schema]
      owned.add(allOf)
      merged[name] = { allOf }
    }
  }
  return merged
}
