export interface AuditEntry {
  readonly id: string
  readonly actorAccountId: string
  readonly actorKeyId: string
  readonly action: string
  readonly targetKind: string | null
  readonly targetId: string | null
  readonly details: Readonly<Record<string, unknown>>
  /** `unknown` while it runs, and permanently if the process died during it. */
  readonly outcome: 'done' | 'failed' | 'unknown'
  readonly createdAtMs: number
}

export interface AuditRow {
  readonly id: string
  readonly actor_account_id: string
  readonly actor_key_id: string
  readonly action: string
  readonly target_kind: string | null
  readonly target_id: string | null
  readonly details: Record<string, unknown>
  readonly outcome: 'done' | 'failed' | null
  readonly created_at: Date
}

export const AUDIT_COLUMNS =
  'id, actor_account_id, actor_key_id, action, target_kind, target_id, details, outcome, created_at'

export function auditEntryFromRow(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    actorAccountId: row.actor_account_id,
    actorKeyId: row.actor_key_id,
    action: row.action,
    targetKind: row.target_kind,
    targetId: row.target_id,
    details: row.details,
    outcome: row.outcome ?? 'unknown',
    createdAtMs: row.created_at.getTime(),
  }
}
