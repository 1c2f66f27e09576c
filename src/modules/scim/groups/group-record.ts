import { filteredAttributes } from '../filter/filter-to-sql.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'

/** A group that a directory manages. It is a group of the account like any other: roles and projects are given to it there. */
export interface ScimGroup {
  readonly id: string
  readonly displayName: string
  readonly externalId: string | null
  /** Null if they were not asked for. */
  readonly members: readonly ScimGroupMember[] | null
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

interface ScimGroupMember {
  /** Of the person in SCIM. */
  readonly id: string
  readonly display: string
}

export interface GroupRow {
  readonly id: string
  readonly name: string
  readonly scim_external_id: string | null
  readonly scim_version: number
  readonly created_at: Date
  readonly scim_updated_at: Date | null
  readonly members: readonly ScimGroupMember[] | null
}

/** Only people whom the directory manages are members for it. */
const MEMBERS = `
  FROM group_members h JOIN scim_users u ON u.account_id = h.account_id AND u.user_id = h.user_id
  WHERE h.group_id = g.id AND h.source = 'scim'`

export function selectGroup(withMembers: boolean): string {
  const members = withMembers
    ? `(SELECT coalesce(json_agg(json_build_object('id', u.id, 'display', coalesce(u.display_name, u.user_name)) ORDER BY u.id), '[]') ${MEMBERS})`
    : 'NULL::json'
  return `SELECT g.id, g.name, g.scim_external_id, g.scim_version, g.created_at, g.scim_updated_at, ${members} AS members FROM groups g`
}

export function groupFromRow(row: GroupRow): ScimGroup {
  return {
    id: row.id,
    displayName: row.name,
    externalId: row.scim_external_id,
    members: row.members,
    version: row.scim_version,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: (row.scim_updated_at ?? row.created_at).getTime(),
  }
}

/** What groups can be searched by. */
export const SEARCHED_GROUP = filteredAttributes({
  id: { kind: 'id', column: 'g.id' },
  displayname: { kind: 'text', column: 'g.name' },
  externalid: { kind: 'exact', column: 'g.scim_external_id' },
  members: { kind: 'some', rows: `SELECT ${MEMBERS}`, column: 'u.id::text' },
  'members.value': { kind: 'some', rows: `SELECT ${MEMBERS}`, column: 'u.id::text' },
  'meta.created': { kind: 'time', column: 'g.created_at' },
  'meta.lastmodified': { kind: 'time', column: 'coalesce(g.scim_updated_at, g.created_at)' },
})

export const SEARCHED_WITHIN_GROUP = lookupTable({
  members: filteredAttributes({ value: { kind: 'id', column: 'u.id' } }),
})
