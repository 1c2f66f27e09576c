import type { TagSettings } from '../keys/keys.ts'

/** A part of an account with its own keys, members and resources. */
export interface Project extends TagSettings {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly createdAtMs: number
  /** An archived project stays for its history, and its keys are refused. */
  readonly archivedAtMs: number | null
}

export interface ProjectRow {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly created_at: Date
  readonly archived_at: Date | null
  readonly required_tags: readonly string[] | null
  readonly fixed_tags: Readonly<Record<string, string>> | null
}

export const PROJECT_COLUMNS = 'id, account_id, name, created_at, archived_at, required_tags, fixed_tags'

export function projectFromRow(row: ProjectRow): Project {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    createdAtMs: row.created_at.getTime(),
    archivedAtMs: row.archived_at?.getTime() ?? null,
    requiredTags: row.required_tags,
    fixedTags: row.fixed_tags,
  }
}
