/** People of an account who are given the same things together. A group contains no groups. */
export interface Group {
  readonly id: string
  readonly name: string
  readonly createdAtMs: number
}

export interface GroupRow {
  readonly id: string
  readonly name: string
  readonly created_at: Date
}

export const GROUP_COLUMNS = 'id, name, created_at'

export function groupFromRow({ id, name, created_at: createdAt }: GroupRow): Group {
  return { id, name, createdAtMs: createdAt.getTime() }
}
