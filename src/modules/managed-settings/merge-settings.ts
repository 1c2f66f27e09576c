import { isRecord } from '../../kernel/is-record.ts'

export type Settings = Readonly<Record<string, unknown>>

/** What is refused stays refused: lists of these members are joined, whoever wrote them. */
const DENYING = /^(?:deny|denied|disallowed|blocked|disabled)/i

/**
 * Puts settings over others: objects member by member, lists that deny something joined, and everything else replaced. So a group changes
 * what it names and nothing else, and nobody loses a prohibition by being in one more group.
 */
export function mergeSettings(base: Settings, over: Settings): Settings {
  const names = new Set([...Object.keys(base), ...Object.keys(over)])
  return Object.fromEntries([...names].map((name) => [name, mergeMember(name, base[name], over[name])]))
}

function mergeMember(name: string, base: unknown, over: unknown): unknown {
  if (over === undefined) return base
  if (isRecord(base) && isRecord(over)) return mergeSettings(base, over)
  if (Array.isArray(base) && Array.isArray(over) && DENYING.test(name)) return joinLists(base, over)
  return over
}

/** Each entry once, in the order of their first place. */
function joinLists(base: readonly unknown[], over: readonly unknown[]): unknown[] {
  const byText = new Map([...base, ...over].map((entry) => [JSON.stringify(entry), entry]))
  return [...byText.values()]
}
