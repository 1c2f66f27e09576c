/** A person who signed in with an API key. */
export interface Session {
  readonly id: string
  /** The key that it began with. */
  readonly keyId: string
  /** The project that it continues in. Null: where its key works. */
  readonly projectId: string | null
  readonly userAgent: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
  readonly expiresAtMs: number
}

export interface SessionRow {
  readonly id: string
  readonly key_id: string
  readonly project_id: string | null
  readonly user_agent: string
  readonly created_at: Date
  readonly last_used_at: Date
  readonly expires_at: Date
}

export function sessionFromRow(row: SessionRow): Session {
  return {
    id: row.id,
    keyId: row.key_id,
    projectId: row.project_id,
    userAgent: row.user_agent,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  }
}
