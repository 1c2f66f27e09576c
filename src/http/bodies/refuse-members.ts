import { AppError } from '../../kernel/app-error.ts'

/** Members that clients of other APIs send. */
export type RefusedMembers = Readonly<Record<string, RefusedMember>>

interface RefusedMember {
  /** What to send instead, or why there is nothing. */
  readonly hint: string
  /** Values that ask for what is done anyhow. */
  readonly ordinary?: readonly unknown[]
}

/**
 * Refuses members that would change the work and its price if they were heeded. What else a route does not know goes to
 * nobody.
 */
export function refuseMembers(body: object, refused: RefusedMembers): void {
  for (const [name, value] of Object.entries(body)) {
    const member = refused[name]
    const asksForNothing = value === null || (Array.isArray(value) && value.length === 0)
    if (member === undefined || asksForNothing || member.ordinary?.includes(value) === true) continue
    const message = `'${name}' is not taken here. ${member.hint}`
    throw new AppError('unsupported_parameter', message, { param: name })
  }
}
