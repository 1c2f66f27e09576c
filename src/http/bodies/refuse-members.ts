import { AppError } from '../../kernel/app-error.ts'

/** Unsupported members that clients of other APIs send. */
export type RefusedMembers = Readonly<Record<string, RefusedMember>>

interface RefusedMember {
  /** What to send instead, or why nothing replaces it. */
  readonly hint: string
  /** Values that request the default behaviour, which are accepted. */
  readonly ordinary?: readonly unknown[]
}

/**
 * Refuses members that would change the work or its price if they were supported. Other unknown members are ignored.
 */
export function refuseMembers(body: object, refused: RefusedMembers): void {
  for (const [name, value] of Object.entries(body)) {
    const member = Object.hasOwn(refused, name) ? refused[name] : undefined
    const asksForNothing = value === null || (Array.isArray(value) && value.length === 0)
    if (member === undefined || asksForNothing || member.ordinary?.includes(value) === true) continue
    const message = `'${name}' is not taken here. ${member.hint}`
    throw new AppError('unsupported_parameter', message, { param: name })
  }
}
