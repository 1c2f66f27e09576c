/** People of an account who are given the same things together. A group contains no groups. */
export interface Group {
  readonly id: string
  readonly name: string
  /** What the directory of the company calls it: whoever has it there is in this group. Null: the directory does not manage it. */
  readonly directoryName: string | null
  readonly createdAtMs: number
}

export interface GroupRow {
  readonly id: string
  readonly name: string
  readonly directory_name: string | null
  readonly created_at: Date
}

export const GROUP_COLUMNS = 'id, name, directory_name, created_at'

export function groupFromRow({
  id,
  name,
  directory_name: directoryName,
  created_at: createdAt,
}: GroupRow): Group {
  return { id, name, directoryName, createdAtMs: createdAt.getTime() }
}
