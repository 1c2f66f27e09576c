import { openPage, type OpenPage } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import type { AuditEventType } from './event-types.ts'

/** An entry of the audit log of an account. */
export interface RecordedChange {
  readonly id: string
  readonly type: string
  readonly project: { readonly id: string; readonly name: string | null } | null
  /** As clients know it. */
  readonly resourceId: string
  readonly details: Readonly<Record<string, unknown>>
  readonly actor: RecordedActor
  /** Null for what the operator did. */
  readonly ipAddress: string | null
  readonly userAgent: string | null
  readonly createdAtMs: number
}

type RecordedActor =
  | ({ readonly kind: 'key' } & RecordedKey)
  | { readonly kind: 'directory'; readonly name: string }
  | { readonly kind: 'operator' }
  /** Nobody knows who it was: a failed sign-in. */
  | { readonly kind: 'unknown' }

export interface RecordedKey {
  readonly keyId: string
  readonly sessionId: string | null
  readonly userId: string | null
  readonly email: string | null
  readonly serviceAccountId: string | null
}

/** Null lists all. */
export interface ChangeFilter {
  readonly fromMs: number | null
  /** Exclusive. */
  readonly untilMs: number | null
  readonly projectIds: readonly string[] | null
  readonly types: readonly AuditEventType[] | null
  /** Of people, service accounts and keys. */
  readonly actorIds: readonly string[] | null
  readonly actorEmails: readonly string[] | null
  readonly resourceIds: readonly string[] | null
}

/** At most `limit` entries: the newest, or those right behind or right before an entry. */
export interface ChangePage {
  readonly limit: number
  readonly afterId: string | null
  readonly beforeId: string | null
}

/** Returns entries, newest first. */
export async function listChanges(
  queryable: Queryable,
  accountId: string,
  { limit, afterId, beforeId }: ChangePage,
  filter: ChangeFilter,
): Promise<OpenPage<RecordedChange>> {
  // Backwards, the entries right before the named one are wanted and not the newest of all.
  const isBackwards = beforeId !== null && afterId === null
  const rows = await queryable.query<ChangeRow>(
    `SELECT c.*, p.name AS project_name FROM account_changes c LEFT JOIN projects p ON p.id = c.project_id
     WHERE c.account_id = $1 AND c.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       AND c.id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
       AND ($4::timestamptz IS NULL OR c.created_at >= $4) AND ($5::timestamptz IS NULL OR c.created_at < $5)
       AND ($6::uuid[] IS NULL OR c.project_id = ANY ($6)) AND ($7::text[] IS NULL OR c.type = ANY ($7))
       AND ($8::uuid[] IS NULL OR c.actor_user_id = ANY ($8) OR c.actor_service_account_id = ANY ($8) OR c.actor_key_id = ANY ($8))
       AND ($9::text[] IS NULL OR lower(c.actor_email) = ANY ($9)) AND ($10::text[] IS NULL OR c.resource_id = ANY ($10))
     ORDER BY c.id ${isBackwards ? 'ASC' : 'DESC'} LIMIT $11`,
    [
      accountId,
      afterId,
      beforeId,
      dateOf(filter.fromMs),
      dateOf(filter.untilMs),
      filter.projectIds,
      filter.types,
      filter.actorIds,
      filter.actorEmails?.map((email) => email.toLowerCase()) ?? null,
      filter.resourceIds,
      limit + 1,
    ],
  )
  const { items, hasMore } = openPage(rows.map(changeFromRow), limit)
  return { items: isBackwards ? items.toReversed() : items, hasMore }
}

interface ChangeRow {
  readonly id: string
  readonly type: string
  readonly project_id: string | null
  readonly project_name: string | null
  readonly resource_id: string
  readonly details: Record<string, unknown>
  readonly actor_key_id: string | null
  readonly actor_session_id: string | null
  readonly actor_user_id: string | null
  readonly actor_email: string | null
  readonly actor_service_account_id: string | null
  readonly actor_name: string | null
  readonly ip_address: string | null
  readonly user_agent: string | null
  readonly created_at: Date
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

function changeFromRow(row: ChangeRow): RecordedChange {
  return {
    id: row.id,
    type: row.type,
    project: row.project_id === null ? null : { id: row.project_id, name: row.project_name },
    resourceId: row.resource_id,
    details: row.details,
    actor: actorFromRow(row),
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    createdAtMs: row.created_at.getTime(),
  }
}

function actorFromRow(row: ChangeRow): RecordedActor {
  if (row.actor_name !== null) return { kind: 'directory', name: row.actor_name }
  if (row.actor_key_id === null) return { kind: row.type === 'login.failed' ? 'unknown' : 'operator' }
  return {
    kind: 'key',
    keyId: row.actor_key_id,
    sessionId: row.actor_session_id,
    userId: row.actor_user_id,
    email: row.actor_email,
    serviceAccountId: row.actor_service_account_id,
  }
}
