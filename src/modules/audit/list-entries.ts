import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { auditEntryFromRow, type AuditEntry, type AuditRow } from './audit-entry.ts'

/** Null lists all. */
export interface EntryFilter {
  /** The id of a person, a key or an account, or an e-mail address. */
  readonly actor: string | null
  /** Such as `account.suspend`, or `account` for all that begin with it. */
  readonly action: string | null
  readonly outcome: AuditEntry['outcome'] | null
  readonly accountId: string | null
  readonly targetId: string | null
  readonly sinceMs: number | null
  /** Exclusive. */
  readonly untilMs: number | null
  /** A part of the action, the names or the details, in any case. */
  readonly text: string | null
}

/** Returns entries, newest first. */
export async function listEntries(
  database: Database,
  { limit, afterId }: PageRequest,
  filter: EntryFilter,
): Promise<Page<AuditEntry>> {
  const values = valuesOf(filter)
  const [rows, [count]] = await Promise.all([
    readEntries(database, values, afterId, limit + 1),
    database.query<{ total: bigint }>(`SELECT count(*) AS total ${ENTRIES}`, values),
  ])
  return {
    items: rows.slice(0, limit).map(auditEntryFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

const ENTRIES_AT_ONCE = 500

/** Returns all entries, newest first, some at a time. */
export async function* exportEntries(
  queryable: Queryable,
  filter: EntryFilter,
): AsyncGenerator<readonly AuditEntry[]> {
  let afterId: string | null = null
  for (;;) {
    const rows: AuditRow[] = await readEntries(queryable, valuesOf(filter), afterId, ENTRIES_AT_ONCE)
    yield rows.map(auditEntryFromRow)
    if (rows.length < ENTRIES_AT_ONCE) return
    afterId = rows.at(-1)?.id ?? null
  }
}

function readEntries(
  queryable: Queryable,
  values: readonly unknown[],
  afterId: string | null,
  count: number,
): Promise<AuditRow[]> {
  return queryable.query<AuditRow>(
    `SELECT e.id, e.actor_account_id, e.actor_key_id, e.action, e.target_kind, e.target_id, e.details, e.outcome, e.created_at,
       actor_account.name AS actor_account_name, actor_key.user_id AS actor_user_id, ${ACTOR_NAME} AS actor_name,
       ${TARGET_NAME} AS target_name, about.id AS about_account_id, about.name AS about_account_name
     ${ENTRIES} AND e.id < $9 ORDER BY e.id DESC LIMIT $10`,
    [...values, afterId ?? ID_AFTER_ALL, count],
  )
}

function valuesOf(filter: EntryFilter): unknown[] {
  return [
    filter.actor?.toLowerCase() ?? null,
    filter.action,
    filter.outcome,
    filter.accountId,
    filter.targetId,
    filter.sinceMs === null ? null : new Date(filter.sinceMs),
    filter.untilMs === null ? null : new Date(filter.untilMs),
    filter.text?.toLowerCase() ?? null,
  ]
}

const uuidOf = (text: string): string =>
  `CASE WHEN ${text} ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (${text})::uuid END`

const ACTOR_NAME = `coalesce(actor.email, actor_service.name, nullif(actor_key.name, ''), actor_key.key_prefix)`

const TARGET_NAME = `coalesce(target_account.name, nullif(target_key.name, ''), target_key.key_prefix, target_user.email,
  target_identity.name, CASE WHEN e.target_kind IN ('provider', 'model') THEN e.target_id END)`

/** A target id is text, because not all are uuids. Each join is by a primary key. */
const ofKind = (kind: string): string => `e.target_kind = '${kind}' AND (${uuidOf('e.target_id')})`

const ENTRIES = `FROM audit_entries e
  LEFT JOIN accounts actor_account ON actor_account.id = e.actor_account_id
  LEFT JOIN api_keys actor_key ON actor_key.id = e.actor_key_id
  LEFT JOIN users actor ON actor.id = actor_key.user_id
  LEFT JOIN service_accounts actor_service ON actor_service.id = actor_key.service_account_id
  LEFT JOIN accounts target_account ON ${ofKind('account')} = target_account.id
  LEFT JOIN api_keys target_key ON ${ofKind('api_key')} = target_key.id
  LEFT JOIN users target_user ON ${ofKind('user')} = target_user.id
  LEFT JOIN payments target_payment ON ${ofKind('payment')} = target_payment.id
  LEFT JOIN identity_providers target_identity ON ${ofKind('identity_provider')} = target_identity.id
  LEFT JOIN accounts about ON about.id = coalesce(target_account.id, target_key.account_id, target_payment.account_id,
    ${uuidOf("e.details ->> 'account_id'")})
  WHERE ($1::text IS NULL OR $1 IN (e.actor_account_id::text, e.actor_key_id::text, actor_key.user_id::text, lower(actor.email)))
    AND ($2::text IS NULL OR e.action = $2 OR starts_with(e.action, $2 || '.'))
    AND ($3::text IS NULL OR coalesce(e.outcome, 'unknown') = $3)
    AND ($4::uuid IS NULL OR about.id = $4)
    AND ($5::text IS NULL OR e.target_id = $5)
    AND ($6::timestamptz IS NULL OR e.created_at >= $6) AND ($7::timestamptz IS NULL OR e.created_at < $7)
    AND ($8::text IS NULL OR strpos(lower(concat_ws(chr(10), e.action, e.target_kind, e.target_id, ${ACTOR_NAME},
      ${TARGET_NAME}, actor_account.name, about.name, e.details::text)), $8) > 0)`
