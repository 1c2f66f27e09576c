import type { FormField } from './form.ts'

/**
 * The fields of a form as members of a body: `name[]` is a list, and so is what `isList` says; `name[member]` is a member of an
 * object.
 */
export function collectFields(
  fields: readonly FormField[],
  isList: (name: string) => boolean,
): Record<string, unknown> {
  const values = new Map<string, string[]>()
  const objects = new Map<string, Map<string, string>>()
  const lists = new Set<string>()
  for (const { name, value } of fields) {
    const [, base = name, suffix, member = ''] = /^([^[\]]+)(\[([^[\]]*)\])?$/.exec(name) ?? []
    if (suffix !== undefined && member !== '') {
      objects.set(base, (objects.get(base) ?? new Map<string, string>()).set(member, value))
      continue
    }
    if (suffix !== undefined) lists.add(base)
    values.set(base, [...(values.get(base) ?? []), value])
  }
  const members = [...values].map(([name, all]) => {
    const isWhole = lists.has(name) || isList(name)
    // A field that is no list and comes twice means its last value.
    return [name, isWhole ? all : all.at(-1)]
  })
  const nested = [...objects].map(([name, entries]) => [name, Object.fromEntries(entries)])
  return Object.fromEntries([...nested, ...members])
}
