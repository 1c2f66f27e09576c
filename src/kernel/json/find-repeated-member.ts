import { skipJsonSpace, skipJsonString } from './edit-json-object.ts'

/**
 * Returns the name of a member that occurs twice in one object of a JSON text, or null. Parsers disagree about which of the two
 * counts, so an upstream might read another value than the one that was checked. The text must be valid JSON.
 *
 * A single pass that jumps over the content of strings, which are most of a body.
 */
export function findRepeatedMember(text: string): string | null {
  /** The names of all open objects, one object after the other. */
  const names: string[] = []
  /** Where the names of the open objects and arrays begin. */
  const starts: number[] = []
  /** The names of large open objects, by depth. Rarely needed. */
  let sets: (Set<string> | undefined)[] | null = null
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = skipJsonString(text, at)
      const next = text.charCodeAt(end) > SPACE ? end : skipJsonSpace(text, end)
      // Only a name is followed by a colon.
      if (text.charCodeAt(next) === COLON) {
        const name = readName(text, at, end)
        const depth = starts.length
        const start = starts[depth - 1] ?? 0
        if (names.length - start < LINEAR_MAX) {
          for (let index = start; index < names.length; index += 1) if (names[index] === name) return name
        } else {
          sets ??= []
          const known = (sets[depth] ??= new Set(names.slice(start)))
          if (known.has(name)) return name
          known.add(name)
        }
        names.push(name)
      }
      at = next
    } else {
      const kind = code | BRACE_BIT
      if (kind === OPENING) starts.push(names.length)
      else if (kind === CLOSING) {
        if (sets !== null) sets[starts.length] = undefined
        names.length = starts.pop() ?? 0
      }
      at += 1
    }
  }
  return null
}

const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20
/** `[` differs from `{`, and `]` from `}`, in this bit only. */
const BRACE_BIT = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

/** Up to this many names a linear search is faster than a set. */
const LINEAR_MAX = 16

function readName(text: string, from: number, end: number): string {
  const name = text.slice(from + 1, end - 1)
  return name.includes('\\') ? String(JSON.parse(text.slice(from, end))) : name
}
