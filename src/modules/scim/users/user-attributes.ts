import { isRecord } from '../../../kernel/is-record.ts'
import { attributesOf, readBoolean, readText } from '../read-member.ts'
import { scimError } from '../scim-error.ts'

/** One address of a person. */
export interface ScimEmail {
  readonly value: string
  readonly type?: string
  readonly display?: string
  readonly primary?: boolean
}

export interface ScimName {
  readonly formatted?: string
  readonly familyName?: string
  readonly givenName?: string
}

/** What a directory says of a person. Other attributes are ignored, so that no more is stored about people than is used. */
export interface UserAttributes {
  readonly userName: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly name: ScimName | null
  readonly emails: readonly ScimEmail[]
  readonly active: boolean
}

const TEXT_LENGTH_MAX = 256
const EMAIL_LENGTH_MAX = 254
const EMAILS_MAX = 20
const EMAIL_PATTERN = /^[^\s@]+@[^\s@]+$/

/** Reads a resource, or what is left of one after a PATCH. */
export function readUser(value: unknown): UserAttributes {
  const attributes = attributesOf(value)
  const userName = readText(attributes, 'userName', TEXT_LENGTH_MAX)
  if (userName === null) throw scimError('invalidValue', 'userName is missing.')
  const emails = readEmails(attributes.get('emails'))
  return {
    userName,
    externalId: readText(attributes, 'externalId', TEXT_LENGTH_MAX),
    displayName: readText(attributes, 'displayName', TEXT_LENGTH_MAX),
    name: readName(attributes.get('name')),
    emails,
    active: readBoolean(attributes, 'active') ?? true,
  }
}

/** Returns the address that the person has here: the primary one, the one for work, the first one, or the userName. */
export function addressOf({ emails, userName }: Pick<UserAttributes, 'emails' | 'userName'>): string | null {
  const email =
    emails.find(({ primary }) => primary === true) ??
    emails.find(({ type }) => type?.toLowerCase() === 'work') ??
    emails[0]
  if (email !== undefined) return email.value
  return EMAIL_PATTERN.test(userName) && userName.length <= EMAIL_LENGTH_MAX ? userName : null
}

/** Returns what the person is called in this account. */
export function shownNameOf({
  displayName,
  name,
}: Pick<UserAttributes, 'displayName' | 'name'>): string | null {
  if (displayName !== null) return displayName
  if (name?.formatted !== undefined) return name.formatted
  const parts = [name?.givenName, name?.familyName].filter((part) => part !== undefined)
  return parts.length === 0 ? null : parts.join(' ')
}

function readName(value: unknown): ScimName | null {
  if (value === undefined || value === null) return null
  if (!isRecord(value)) throw scimError('invalidValue', 'name must be an object.')
  const attributes = attributesOf(value)
  const parts = ['formatted', 'familyName', 'givenName'].flatMap((part) => {
    const text = readText(attributes, part, TEXT_LENGTH_MAX)
    return text === null ? [] : [[part, text]]
  })
  return parts.length === 0 ? null : Object.fromEntries(parts)
}

function readEmails(value: unknown): ScimEmail[] {
  if (value === undefined || value === null) return []
  const all: unknown[] = Array.isArray(value) ? value : [value]
  if (all.length > EMAILS_MAX)
    throw scimError('invalidValue', `A person has at most ${EMAILS_MAX} addresses.`)
  let hasPrimary = false
  return all.flatMap((one) => {
    const attributes = attributesOf(typeof one === 'string' ? { value: one } : one)
    const address = readText(attributes, 'value', EMAIL_LENGTH_MAX)
    // Entra leaves the element of an address that it removed.
    if (address === null) return []
    if (!EMAIL_PATTERN.test(address))
      throw scimError('invalidValue', 'emails.value must be an e-mail address.')
    const type = readText(attributes, 'type', TEXT_LENGTH_MAX)
    const display = readText(attributes, 'display', TEXT_LENGTH_MAX)
    // RFC 7643 allows only one primary value.
    const given = readBoolean(attributes, 'primary')
    const primary = given === true && !hasPrimary
    hasPrimary ||= primary
    return [
      {
        value: address,
        ...(type !== null && { type }),
        ...(display !== null && { display }),
        ...(given !== null && { primary }),
      },
    ]
  })
}
