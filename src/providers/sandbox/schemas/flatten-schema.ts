import { isRecord } from '../../../kernel/is-record.ts'
import { mergeSchemas, resolveReference, type JsonSchema } from './resolve-schema.ts'
import type { WorkBudget } from '../work-budget.ts'

/** Deep enough for real schemas. Below this depth only required values are generated. */
export const FULL_DEPTH = 4
const COMBINATIONS_MAX = 32

export type FlattenSchema = (schema: unknown, depth: number) => JsonSchema

/**
 * Follows references and takes one branch of each choice, until only plain keywords are left. Each schema is flattened once, even
 * if it is used for many values.
 */
export function createFlattener(root: unknown, budget: WorkBudget): FlattenSchema {
  const shallow = new Map<unknown, JsonSchema>()
  const deep = new Map<unknown, JsonSchema>()
  return (schema, depth) => {
    const known = depth < FULL_DEPTH ? shallow : deep
    const found = known.get(schema)
    if (found !== undefined) return found
    const flat = flatten({ root, budget, depth }, schema)
    known.set(schema, flat)
    return flat
  }
}

interface Flattening {
  readonly root: unknown
  readonly budget: WorkBudget
  readonly depth: number
}

function flatten(flattening: Flattening, given: unknown): JsonSchema {
  const { root, budget, depth } = flattening
  let schema: JsonSchema = isRecord(given) ? given : {}
  for (let count = 0; count < COMBINATIONS_MAX && budget.stepsLeft >= 0; count += 1) {
    const { $ref: reference, allOf, anyOf, oneOf, ...rest } = schema
    if (typeof reference === 'string') {
      schema = mergeSchemas([resolveReference(root, reference), { allOf, anyOf, oneOf, ...rest }], budget)
    } else if (Array.isArray(allOf)) {
      schema = mergeSchemas([{ anyOf, oneOf, ...rest }, ...allOf], budget)
    } else if (Array.isArray(anyOf) && anyOf.length > 0) {
      schema = mergeSchemas([{ oneOf, ...rest }, chooseBranch(flattening, anyOf, depth)], budget)
    } else if (Array.isArray(oneOf) && oneOf.length > 0) {
      schema = mergeSchemas([rest, chooseBranch(flattening, oneOf, depth)], budget)
    } else return rest
  }
  return {}
}

// At greater depth, take the branch that ends soonest, so that nested lists come to an end.
function chooseBranch({ root, budget }: Flattening, branches: readonly unknown[], depth: number): unknown {
  if (depth < FULL_DEPTH) return branches[0]
  budget.stepsLeft -= branches.length
  const weigh = (branch: unknown): number => {
    if (!isRecord(branch)) return 0
    if (typeof branch['$ref'] === 'string') {
      const target = resolveReference(root, branch['$ref'])
      return 3 + (isRecord(target) && Array.isArray(target['required']) ? target['required'].length : 0)
    }
    return branch['type'] === 'object' ? 2 : branch['type'] === 'array' ? 1 : 0
  }
  let lightest: { branch: unknown; weight: number } | null = null
  for (const branch of branches) {
    const weight = weigh(branch)
    if (lightest === null || weight < lightest.weight) lightest = { branch, weight }
  }
  return lightest?.branch
}
