import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import type { AuditEventType } from './event-types.ts'

/** Where a request comes from. */
export interface RequestOrigin {
  /** Null if it is not known. */
  readonly ipAddress: string | null
  /** As the program names itself. */
  readonly userAgent: string
}

/** Who changed something. A caller is one. */
export interface ChangeActor {
  readonly accountId: string
  /** Null for what is no key: a directory. */
  readonly keyId: string | null
  readonly session?: { readonly id: string }
  /** What it is called if it is no key. */
  readonly name?: string
  /** Absent only for what no request asked for. */
  readonly origin?: RequestOrigin
}

/** One entry for the audit log of an account. */
export interface AccountChange {
  /** A key of another account belongs to an operator, whom the account does not know. */
  readonly actor: ChangeActor
  readonly type: AuditEventType
  /** The account whose log it is in. By default that of the actor. */
  readonly accountId?: string
  /** Null for what concerns the account as a whole. */
  readonly projectId: string | null
  /** What was changed, with its id as clients know it: `proj_…`, `user-…`. */
  readonly resourceId: string
  /** The members beside `id` in OpenAI's form: `data` of a new thing, `changes_requested` of a changed one. Never secrets. */
  readonly details?: { readonly [member: string]: unknown }
}

/**
 * Writes an entry to the audit log of an account, in the transaction of the change: a change without its entry does not exist, and an
 * entry without its change neither. Write nothing for a request that changed nothing.
 */
export async function recordChange(transaction: Queryable, change: AccountChange): Promise<void> {
  const { actor, type, accountId = actor.accountId, projectId, resourceId, details = {} } = change
  const isOwn = actor.accountId === accountId
  await transaction.query(INSERT_CHANGE, [
    createId(),
    accountId,
    projectId,
    type,
    resourceId,
    JSON.stringify(details),
    isOwn ? actor.keyId : null,
    isOwn ? (actor.session?.id ?? null) : null,
    isOwn ? (actor.name ?? null) : null,
    isOwn ? (actor.origin?.ipAddress ?? null) : null,
    isOwn ? (actor.origin?.userAgent ?? null) : null,
  ])
}

// The beginning of the id is the database's time in microseconds: the entries of all processes have one order, also those of one request.
const INSERT_CHANGE = `
  INSERT INTO account_changes (id, account_id, project_id, type, resource_id, details, actor_key_id, actor_session_id,
    actor_user_id, actor_service_account_id, actor_email, actor_name, ip_address, user_agent, created_at)
  SELECT overlay(replace($1::text, '-', '') PLACING
      lpad(to_hex(t.us / 1000), 12, '0') || '7' || lpad(to_hex(t.us % 1000 * 4), 3, '0') FROM 1)::uuid,
    $2, $3, $4, $5, $6::jsonb, $7::uuid, $8::uuid, k.user_id, k.service_account_id, u.email, $9, $10, $11,
    to_timestamp(t.us / 1000000.0)
  FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) t
  LEFT JOIN api_keys k ON k.id = $7 LEFT JOIN users u ON u.id = k.user_id`
