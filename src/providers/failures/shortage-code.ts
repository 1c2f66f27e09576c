/** System errors that mean that this process or machine has run out of a resource that a connection needs. */
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

/** Returns null if the error was not caused by a shortage in this process or machine. */
export function shortageCodeOf(error: unknown): string | null {
  let current = error
  for (let depth = 0; depth < CAUSES_MAX; depth += 1) {
    // An attempt over several addresses fails with one `AggregateError`.
    if (current instanceof AggregateError) current = current.errors[0]
    if (!(current instanceof Error)) return null
    const code = 'code' in current && typeof current.code === 'string' ? current.code : ''
    if (SHORTAGE_CODES.has(code)) return code
    current = current.cause
  }
  return null
}
