import type { AuditLogEntry } from '../../api/audit-log.ts'

/** Who did it, in words. */
export function describeActor({ actor, type }: Pick<AuditLogEntry, 'actor' | 'type'>): string {
  if (actor === null) return type === 'login.failed' ? 'somebody unknown' : 'the gateway'
  if (actor.type === 'operator') return 'the operator'
  if (actor.type === 'directory') return `the directory ${actor.directory?.name ?? ''}`
  const person = actor.session?.user ?? actor.api_key?.user
  if (person) return person.email
  const program = actor.api_key?.service_account
  if (program) return program.id
  return actor.session ? 'a key of the account, in a browser' : `key ${actor.api_key?.id ?? ''}`
}

/** What the entry says of the change. */
export function detailsOf(entry: AuditLogEntry): unknown {
  return Reflect.get(entry, entry.type) ?? null
}
