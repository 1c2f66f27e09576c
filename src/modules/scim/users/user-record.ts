import { lookupTable } from '../../../kernel/lookup-table.ts'
import { filteredAttributes } from '../filter/filter-to-sql.ts'
import type { ScimEmail, ScimName, UserAttributes } from './user-attributes.ts'

/** A person that a directory manages. */
export interface ScimUser extends UserAttributes {
  /** In SCIM. It stays when the person gets another address. */
  readonly id: string
  /** Of the person in this account. */
  readonly userId: string
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface UserRow {
  readonly id: string
  readonly user_id: string
  readonly user_name: string
  readonly external_id: string | null
  readonly display_name: string | null
  readonly attributes: { readonly name?: ScimName; readonly emails?: readonly ScimEmail[] }
  readonly is_active: boolean
  readonly version: number
  readonly created_at: Date
  readonly updated_at: Date
}

export const SELECT_USER = `
  SELECT s.id, s.user_id, s.user_name, s.external_id, s.display_name, s.attributes, s.version, s.created_at, s.updated_at,
    m.suspended_at IS NULL AS is_active
  FROM scim_users s JOIN account_members m ON m.account_id = s.account_id AND m.user_id = s.user_id`

export function userFromRow(row: UserRow): ScimUser {
  return {
    id: row.id,
    userId: row.user_id,
    userName: row.user_name,
    externalId: row.external_id,
    displayName: row.display_name,
    name: row.attributes.name ?? null,
    emails: row.attributes.emails ?? [],
    active: row.is_active,
    version: row.version,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}

const EMAILS = `SELECT FROM jsonb_array_elements(s.attributes -> 'emails') e(email) WHERE true`

/** What people can be searched by. */
export const SEARCHED_USER = filteredAttributes({
  id: { kind: 'id', column: 's.id' },
  username: { kind: 'text', column: 's.user_name' },
  externalid: { kind: 'exact', column: 's.external_id' },
  displayname: { kind: 'text', column: 's.display_name' },
  'name.formatted': { kind: 'text', column: `(s.attributes -> 'name' ->> 'formatted')` },
  'name.givenname': { kind: 'text', column: `(s.attributes -> 'name' ->> 'givenName')` },
  'name.familyname': { kind: 'text', column: `(s.attributes -> 'name' ->> 'familyName')` },
  active: { kind: 'boolean', column: '(m.suspended_at IS NULL)' },
  'meta.created': { kind: 'time', column: 's.created_at' },
  'meta.lastmodified': { kind: 'time', column: 's.updated_at' },
  emails: { kind: 'some', rows: EMAILS, column: `(e.email ->> 'value')`, equal: isOneOf },
  'emails.value': { kind: 'some', rows: EMAILS, column: `(e.email ->> 'value')`, equal: isOneOf },
  'emails.type': { kind: 'some', rows: EMAILS, column: `(e.email ->> 'type')` },
})

/** What addresses can be searched by, within `emails[…]`. */
export const SEARCHED_WITHIN_USER = lookupTable({
  emails: filteredAttributes({
    value: { kind: 'text', column: `(e.email ->> 'value')` },
    type: { kind: 'text', column: `(e.email ->> 'type')` },
    primary: { kind: 'boolean', column: `coalesce((e.email ->> 'primary')::boolean, false)` },
  }),
})

/** By the index of addresses. */
function isOneOf(parameter: string): string {
  return `s.emails @> ARRAY[${parameter}::text]`
}
