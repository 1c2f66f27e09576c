import type { Problem } from './find-problem.ts'
import { branchesOf, type SchemaShape } from './schema-shape.ts'

/** An array in a body that is not inside of another one. */
interface BoundedArray {
  readonly path: readonly string[]
  readonly itemsMax: number
}

/**
 * Compiles a check of the lengths of arrays. It comes first, because the validator reads all items of an array before its
 * length, and finding the first problem reads them several times.
 */
export function compileLengths(schema: SchemaShape): (value: unknown) => Problem | null {
  const arrays = listArrays(schema, [])
  return (value) => {
    for (const { path, itemsMax } of arrays) {
      let current = value
      for (const name of path) current = isObject(current) ? Reflect.get(current, name) : undefined
      if (Array.isArray(current) && current.length > itemsMax)
        return {
          keyword: 'bound',
          path,
          expectation: `must not have more than ${itemsMax} items`,
          allowed: [],
        }
    }
    return null
  }
}

function listArrays(schema: SchemaShape, path: readonly string[]): BoundedArray[] {
  const branches = branchesOf(schema)
  const arrays = branches.filter(({ type }) => type === 'array')
  const itemsMax = Math.max(...arrays.map((array) => array.maxItems ?? Number.POSITIVE_INFINITY))
  const own = arrays.length > 0 && Number.isFinite(itemsMax) ? [{ path, itemsMax }] : []
  const inner = branches.flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, property]) => listArrays(property, [...path, name])),
  )
  return [...own, ...inner]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
