import { isRecord } from '../../../kernel/is-record.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import { attributesOf, readText } from '../read-member.ts'
import { scimError } from '../scim-error.ts'

/** What a directory says of a group. */
export interface GroupAttributes {
  readonly displayName: string
  readonly externalId: string | null
  /** The ids of people in SCIM. */
  readonly memberIds: readonly string[]
}

export const NAME_LENGTH_MAX = 200
export const EXTERNAL_ID_LENGTH_MAX = 256
const MEMBERS_MAX = 50_000

export function readGroupResource(value: unknown): GroupAttributes {
  const attributes = attributesOf(value)
  const displayName = readText(attributes, 'displayName', NAME_LENGTH_MAX)
  if (displayName === null) throw scimError('invalidValue', 'displayName is missing.')
  return {
    displayName,
    externalId: readText(attributes, 'externalId', EXTERNAL_ID_LENGTH_MAX),
    memberIds: readMemberIds(attributes.get('members')),
  }
}

/** Reads `[{"value": "…"}]`, one such object, or plain ids. */
export function readMemberIds(value: unknown): string[] {
  if (value === undefined || value === null) return []
  const given: unknown[] = Array.isArray(value) ? value : [value]
  if (given.length > MEMBERS_MAX) throw scimError('tooMany', `A group has at most ${MEMBERS_MAX} members.`)
  const ids = given.map((one) => {
    const attributes = isRecord(one) ? attributesOf(one) : null
    const type = attributes?.get('type')
    if (typeof type === 'string' && type.toLowerCase() === 'group') throw noGroups()
    const id = attributes === null ? one : attributes.get('value')
    if (typeof id !== 'string' || !isUuid(id))
      throw scimError('invalidValue', 'members.value must be the id of a person.')
    return id.toLowerCase()
  })
  return [...new Set(ids)]
}

export function noGroups(): Error {
  return scimError('invalidValue', 'A group contains people and no groups.')
}
