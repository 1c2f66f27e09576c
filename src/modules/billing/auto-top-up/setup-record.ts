import type { Queryable } from '../../../storage/database.ts'
import type { ChangeActor } from '../../audit/audit.ts'

/** A page where a person saves a payment method. */
export interface SetupRecord {
  readonly id: string
  readonly accountId: string
  readonly provider: string
  readonly sessionId: string | null
  readonly baseUrl: string
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly actor: ChangeActor
  readonly status: 'open' | 'saved' | 'expired'
  readonly expiresAtMs: number
}

interface SetupRow {
  readonly id: string
  readonly account_id: string
  readonly provider: string
  readonly session_id: string | null
  readonly base_url: string
  readonly success_url: string | null
  readonly cancel_url: string | null
  readonly actor: ChangeActor
  readonly status: SetupRecord['status']
  readonly expires_at: Date
}

const COLUMNS =
  'id, account_id, provider, session_id, base_url, success_url, cancel_url, actor, status, expires_at'

export async function insertSetup(
  transaction: Queryable,
  setup: Omit<SetupRecord, 'sessionId' | 'status'> & {
    readonly customerId: string | null
    readonly checkAtMs: number
    readonly nowMs: number
  },
): Promise<void> {
  await transaction.query(
    `INSERT INTO payment_method_setups (id, account_id, provider, customer_id, base_url, success_url, cancel_url, actor, status,
       expires_at, check_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, 'open', $9, $10, $11)`,
    [
      setup.id,
      setup.accountId,
      setup.provider,
      setup.customerId,
      setup.baseUrl,
      setup.successUrl,
      setup.cancelUrl,
      JSON.stringify(setup.actor),
      new Date(setup.expiresAtMs),
      new Date(setup.checkAtMs),
      new Date(setup.nowMs),
    ],
  )
}

export async function findSetup(
  queryable: Queryable,
  provider: string,
  key: { readonly id: string } | { readonly sessionId: string },
): Promise<SetupRecord | null> {
  const [column, value] = 'id' in key ? ['id', key.id] : ['session_id', key.sessionId]
  const [row] = await queryable.query<SetupRow>(
    `SELECT ${COLUMNS} FROM payment_method_setups WHERE provider = $1 AND ${column} = $2`,
    [provider, value],
  )
  return row === undefined ? null : setupFromRow(row)
}

/** Ends an open page, and returns whether this call did. */
export async function endSetup(
  transaction: Queryable,
  id: string,
  status: 'saved' | 'expired',
): Promise<boolean> {
  const rows = await transaction.query(
    `UPDATE payment_method_setups SET status = $2, check_at = NULL WHERE id = $1 AND status = 'open' RETURNING id`,
    [id, status],
  )
  return rows.length > 0
}

export async function writeSetupSession(
  queryable: Queryable,
  id: string,
  { sessionId, customerId }: { readonly sessionId: string; readonly customerId: string },
): Promise<void> {
  await queryable.query(
    `UPDATE payment_method_setups SET session_id = coalesce(session_id, $2), customer_id = coalesce(customer_id, $3) WHERE id = $1`,
    [id, sessionId, customerId],
  )
}

/** Sets the next check of what it claims, so that no two processes ask for the same page. */
export async function claimDueSetups(
  queryable: Queryable,
  { provider, nowMs, limit }: { provider: string; nowMs: number; limit: number },
): Promise<SetupRecord[]> {
  const rows = await queryable.query<SetupRow>(
    `UPDATE payment_method_setups SET check_at = $2::timestamptz
       + greatest(interval '1 minute', least(interval '1 hour', ($2::timestamptz - created_at) / 4))
     WHERE id IN (
       SELECT id FROM payment_method_setups WHERE provider = $1 AND check_at <= $2
       ORDER BY check_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
    [provider, new Date(nowMs), limit],
  )
  return rows.map(setupFromRow)
}

/** The open pages of an account. */
export async function listOpenSetups(
  queryable: Queryable,
  accountId: string,
  limit: number,
): Promise<SetupRecord[]> {
  const rows = await queryable.query<SetupRow>(
    `SELECT ${COLUMNS} FROM payment_method_setups WHERE account_id = $1 AND status = 'open' ORDER BY created_at DESC LIMIT $2`,
    [accountId, limit],
  )
  return rows.map(setupFromRow)
}

/** How many pages the account has begun since. */
export async function countSetups(queryable: Queryable, accountId: string, sinceMs: number): Promise<number> {
  const [row] = await queryable.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM payment_method_setups WHERE account_id = $1 AND created_at > $2',
    [accountId, new Date(sinceMs)],
  )
  return Number(row?.count ?? 0)
}

export async function forgetOldSetups(queryable: Queryable, beforeMs: number): Promise<void> {
  await queryable.query(`DELETE FROM payment_method_setups WHERE created_at < $1 AND status <> 'open'`, [
    new Date(beforeMs),
  ])
}

function setupFromRow(row: SetupRow): SetupRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    sessionId: row.session_id,
    baseUrl: row.base_url,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    actor: row.actor,
    status: row.status,
    expiresAtMs: row.expires_at.getTime(),
  }
}
