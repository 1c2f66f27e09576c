import { lookupTable } from '../../kernel/lookup-table.ts'
import {
  ACCOUNT_ROLE_PERMISSIONS,
  permissionsOfRoles,
  PROJECT_ROLE_PERMISSIONS,
  type Permission,
} from '../keys/keys.ts'

/** Where a role belongs: to an account, or to one project of it. */
export interface RolePlace {
  readonly accountId: string
  /** Null: the account. */
  readonly projectId: string | null
}

/** A named set of permissions. */
export interface Role {
  /** Of a predefined role its name. */
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly permissions: readonly Permission[]
  readonly isPredefined: boolean
  /** Null for a predefined one. */
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
}

export interface RoleRow {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly permissions: readonly string[]
  readonly created_at: Date
  readonly updated_at: Date
}

export const ROLE_COLUMNS = 'id, name, description, permissions, created_at, updated_at'

export function roleFromRow(row: RoleRow): Role {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    permissions: [...permissionsOfRoles(row.permissions)],
    isPredefined: false,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}

/** The roles that every account or every project has, the strongest first. */
export function predefinedRoles({ projectId }: RolePlace): Role[] {
  const roles = projectId === null ? ACCOUNT_ROLE_PERMISSIONS : PROJECT_ROLE_PERMISSIONS
  const meanings = projectId === null ? ACCOUNT_MEANINGS : PROJECT_MEANINGS
  return Object.entries(roles).map(([name, permissions]) => ({
    id: name,
    name,
    description: meanings[name] ?? null,
    permissions,
    isPredefined: true,
    createdAtMs: null,
    updatedAtMs: null,
  }))
}

/** Returns null if it is the name of no predefined role there. */
export function findPredefined(place: RolePlace, name: string): Role | null {
  return predefinedRoles(place).find((role) => role.name === name.toLowerCase()) ?? null
}

/** As what the role is given: a predefined one by its name, an own one by its permissions. */
export function giftOf(
  place: RolePlace,
  roles: readonly Role[],
): { readonly projectId: string | null; readonly roles: readonly string[] } {
  const { projectId } = place
  const prefix = projectId === null ? 'account' : 'project'
  return {
    projectId,
    roles: roles.flatMap((role): readonly string[] =>
      role.isPredefined ? [`${prefix}:${role.name}`] : role.permissions,
    ),
  }
}

const ACCOUNT_MEANINGS = lookupTable<string>({
  owner: 'Everything, in every project.',
  billing: 'Pays, and sees costs.',
  auditor: 'Reads everything but prompts and answers.',
  reader: 'Works in the projects that the person was added to.',
})
const PROJECT_MEANINGS = lookupTable<string>({
  owner: 'Everything in the project.',
  member: 'Uses models and makes own keys.',
  viewer: 'Sees the project and its usage.',
})
