/** A person who signed in with an API key. */
export interface Session {
  readonly id: string
  /** The key that it began with. */
  readonly keyId: string
  /** The person whom that key belongs to. Null for a key of the account itself. */
  readonly userId: string | null
  /** The project that it continues in. Null: where its key works. */
  readonly projectId: string | null
  readonly userAgent: string
  /** How the person signed in. */
  readonly method: string
  /** Where the person signed in. Null if it is not known. */
  readonly ipAddress: string | null
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
  readonly expiresAtMs: number
}

export interface SessionRow {
  readonly id: string
  readonly key_id: string
  readonly user_id: string | null
  readonly project_id: string | null
  readonly user_agent: string
  readonly method: string
  readonly ip_address: string | null
  readonly created_at: Date
  readonly last_used_at: Date
  readonly expires_at: Date
}

/** Also of `RETURNING`, which names the table only by its own name. */
export const SESSION_COLUMNS =
  'sessions.*, (SELECT k.user_id FROM api_keys k WHERE k.id = sessions.key_id) AS user_id'

export function sessionFromRow(row: SessionRow): Session {
  return {
    id: row.id,
    keyId: row.key_id,
    userId: row.user_id,
    projectId: row.project_id,
    userAgent: row.user_agent,
    method: row.method,
    ipAddress: row.ip_address,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  }
}
