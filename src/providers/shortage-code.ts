/** What the system says when this process, or the machine, has no more of what a connection needs. */
const SHORTAGE_CODES: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOBUFS',
  'EADDRNOTAVAIL',
  'EAGAIN',
  'EBUSY',
  'EAI_MEMORY',
])
const CAUSES_MAX = 4

/** Null where the error is not of this process's own making. */
export function shortageCodeOf(error: unknown): string | null {
  let current = error
  for (let depth = 0; depth < CAUSES_MAX; depth += 1) {
    // A connection tried over several addresses fails with one error for all of them.
    if (current instanceof AggregateError) current = current.errors[0]
    if (!(current instanceof Error)) return null
    const code = 'code' in current && typeof current.code === 'string' ? current.code : ''
    if (SHORTAGE_CODES.has(code)) return code
    current = current.cause
  }
  return null
}
