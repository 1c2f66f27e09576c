/** People of an account who are given the same things together. A group contains no groups. */
export interface Group {
  readonly id: string
  readonly name: string
  /** What the directory of the company calls it: whoever has it there is in this group. Null: the directory does not manage it. */
  readonly directoryName: string | null
  /** A directory says its name and who is in it, by SCIM. */
  readonly isScimManaged: boolean
  readonly createdAtMs: number
}

export interface GroupRow {
  readonly id: string
  readonly name: string
  readonly directory_name: string | null
  readonly is_scim_managed: boolean
  readonly created_at: Date
}

export const GROUP_COLUMNS = 'id, name, directory_name, is_scim_managed, created_at'

export function groupFromRow({
  id,
  name,
  directory_name: directoryName,
  is_scim_managed: isScimManaged,
  created_at: createdAt,
}: GroupRow): Group {
  return { id, name, directoryName, isScimManaged, createdAtMs: createdAt.getTime() }
}
