import { isRecord } from '../../../kernel/is-record.ts'
import { readUser, type UserAttributes } from '../users/user-attributes.ts'
import { scimError } from '../scim-error.ts'
import { exactlyMeant, matchesFilter } from './matches-filter.ts'
import { readPath, type PatchOperation, type PatchPath } from './patch-operation.ts'

type Value = Record<string, unknown>

/** What a PATCH changes, before it is read again. Names are in lower case. */
interface Draft {
  readonly texts: Map<string, unknown>
  name: Value
  emails: Value[]
}

const TEXTS = new Set(['username', 'externalid', 'displayname', 'active'])
const EMAILS_MAX = 100

/** Returns what a person is after these operations. Throws for a path or value that cannot be. Unknown attributes are ignored. */
export function patchUser(before: UserAttributes, operations: readonly PatchOperation[]): UserAttributes {
  const draft: Draft = {
    texts: new Map<string, unknown>([
      ['username', before.userName],
      ['externalid', before.externalId],
      ['displayname', before.displayName],
      ['active', before.active],
    ]),
    name: lowerCase({ ...before.name }),
    emails: before.emails.map((email) => ({ ...email })),
  }
  for (const operation of operations) apply(draft, operation)
  return readUser({ ...Object.fromEntries(draft.texts), name: draft.name, emails: draft.emails })
}

function apply(draft: Draft, { op, path, value }: PatchOperation): void {
  if (path === null) {
    // The members of the value are attributes, or paths as Entra writes them: "name.givenName".
    for (const [name, member] of Object.entries(isRecord(value) ? value : {})) {
      const meant = /^urn:/i.test(name) && !name.includes('[') && isRecord(member) ? null : readPath(name)
      if (meant !== null && !READ_ONLY.has(meant.attribute)) apply(draft, { op, path: meant, value: member })
    }
    return
  }
  if (path.isOfExtension) return
  if (path.attribute === 'name') patchName(draft, op, path, value)
  else if (path.attribute === 'emails') draft.emails = patchEmails(draft.emails, op, path, value)
  else if (TEXTS.has(path.attribute)) {
    if (path.member !== null || path.filter !== null)
      throw scimError('invalidPath', `${path.attribute} has no parts.`)
    if (op === 'remove' && path.attribute === 'username')
      throw scimError('invalidValue', 'userName cannot be removed.')
    // Without it, a person is active.
    if (op === 'remove' && path.attribute === 'active')
      throw scimError('invalidValue', 'active cannot be removed.')
    draft.texts.set(path.attribute, op === 'remove' ? null : value)
  }
}

/** Directories repeat them in the value of an operation without a path. */
const READ_ONLY = new Set(['id', 'meta', 'schemas', 'groups'])

function patchName(draft: Draft, op: PatchOperation['op'], path: PatchPath, value: unknown): void {
  if (path.filter !== null) throw scimError('invalidPath', 'name is not a list.')
  if (path.member !== null) draft.name[path.member] = op === 'remove' ? null : value
  else if (op === 'remove') draft.name = {}
  else if (isRecord(value)) Object.assign(draft.name, lowerCase(value))
  else if (value === null) draft.name = {}
  else throw scimError('invalidValue', 'name must be an object.')
}

function patchEmails(emails: Value[], op: PatchOperation['op'], path: PatchPath, value: unknown): Value[] {
  const { filter, member } = path
  const isMeant = (email: Value): boolean => filter === null || matchesFilter(email, filter)
  if (member !== null) return patchMember(emails, op, path, value)
  if (op === 'remove') {
    const named = value === undefined || value === null ? null : listOf(value)
    return emails.filter(
      (email) => !isMeant(email) || (named !== null && !named.some((one) => isSameAddress(one, email))),
    )
  }
  const given = listOf(value)
  if (filter === null) return op === 'replace' ? given : addTo(emails, given)
  const [only] = given
  if (only === undefined || given.length > 1)
    throw scimError('invalidValue', 'A path with a filter takes one value.')
  if (!emails.some(isMeant)) return addTo(emails, [{ ...exactlyMeant(filter), ...only }])
  const merged = emails.map((email) => (isMeant(email) ? { ...email, ...only } : email))
  return only['primary'] === true
    ? withPrimary(
        merged,
        merged.find((_, index) => isMeant(emails[index] ?? {})),
      )
    : merged
}

function patchMember(emails: Value[], op: PatchOperation['op'], path: PatchPath, value: unknown): Value[] {
  const { filter } = path
  const member = path.member ?? 'value'
  const isMeant = (email: Value): boolean => filter === null || matchesFilter(email, filter)
  const isNothing = op === 'remove' || value === null || value === ''
  if (isNothing && member === 'value') return emails.filter((email) => !isMeant(email))
  if (emails.some(isMeant)) {
    const changed = emails.map((email) =>
      isMeant(email) ? { ...email, [member]: isNothing ? null : value } : email,
    )
    const chosen =
      member === 'primary' && isTrue(value)
        ? changed.find((_, index) => isMeant(emails[index] ?? {}))
        : undefined
    return withPrimary(changed, chosen)
  }
  if (isNothing) return emails
  // Entra writes into the address for work of a person who has none yet.
  const made = filter === null ? {} : exactlyMeant(filter)
  if (made === null) throw scimError('noTarget', 'No address matches the filter.')
  return addTo(emails, [{ ...made, [member]: value }])
}

function addTo(emails: readonly Value[], added: readonly Value[]): Value[] {
  const kept = emails.filter((email) => !added.some((one) => isSameAddress(one, email)))
  const all = [...kept, ...added]
  if (all.length > EMAILS_MAX) throw scimError('invalidValue', 'There are too many addresses.')
  return withPrimary(
    all,
    added.find((one) => isTrue(one['primary'])),
  )
}

/** A new primary address takes the place of the one before. */
function withPrimary(emails: Value[], chosen: Value | undefined): Value[] {
  if (chosen === undefined) return emails
  return emails.map((email) => ({ ...email, primary: email === chosen }))
}

function isTrue(value: unknown): boolean {
  return String(value).toLowerCase() === 'true'
}

function isSameAddress(one: Value, other: Value): boolean {
  const [first, second] = [one, other].map((email) =>
    [email['value'], email['type']].map((text) => String(text).toLowerCase()),
  )
  return first?.[0] === second?.[0] && (one['type'] === undefined || first?.[1] === second?.[1])
}

function listOf(value: unknown): Value[] {
  const list: unknown[] = Array.isArray(value) ? value : value === null ? [] : [value]
  return list.map((one) => {
    if (typeof one === 'string') return { value: one }
    if (!isRecord(one)) throw scimError('invalidValue', 'emails must be a list of objects.')
    return lowerCase(one)
  })
}

function lowerCase(value: Value): Value {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]))
}
