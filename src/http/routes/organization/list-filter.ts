import { Type, type TSchema } from 'typebox'

const VALUES_MAX = 100

/** A filter by several values: one of them or a list. Official clients write its name with brackets, so routes have it twice. */
export function listFilter<Item extends TSchema>(item: Item, description: string) {
  return Type.Optional(Type.Union([item, Type.Array(item, { maxItems: VALUES_MAX })], { description }))
}

/** Returns the values of a filter in the first spelling that is given, or null. */
export function readFilter(
  ...spellings: readonly (string | readonly string[] | undefined)[]
): readonly string[] | null {
  const given = spellings.find((value) => value !== undefined)
  return typeof given === 'string' ? [given] : (given ?? null)
}
