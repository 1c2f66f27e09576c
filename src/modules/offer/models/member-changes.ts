type Members = Readonly<Record<string, unknown>>

/** Null removes a member. */
export function mergeMembers(before: Members, changes: Members): Members {
  const merged = { ...before, ...changes }
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** What differs, each member with `from` and `to`. */
export function differenceOf(before: Members, after: Members): Members {
  const difference: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [before[name] ?? null, after[name] ?? null]
    if (JSON.stringify(from) !== JSON.stringify(to)) difference[name] = { from, to }
  }
  return difference
}
