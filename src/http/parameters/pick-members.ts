/** Returns only these members of an object, to compare them before and after a change. */
export function pickMembers(members: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)))
}
