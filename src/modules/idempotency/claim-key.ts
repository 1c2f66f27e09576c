import type { Database } from '../../storage/database.ts'

/** The row of a key, and the run that owns or claims it. */
export interface KeyPlace {
  readonly accountId: string
  readonly keyHash: Buffer
  readonly fingerprint: Buffer
  readonly runId: string
}

interface ClaimOrder {
  readonly place: KeyPlace
  readonly requestId: string
  readonly leaseMs: number
  readonly retentionMs: number
}

export type FoundKey =
  | { readonly kind: 'claimed'; readonly requestId: string; readonly storedBytes: number }
  | { readonly kind: 'answered'; readonly sealed: Buffer; readonly requestId: string }
  | { readonly kind: 'unkept'; readonly requestId: string }
  | { readonly kind: 'running'; readonly runningMs: number }
  | { readonly kind: 'reused' }

/** The row may be deleted between the two statements, so try again a few times. */
const ATTEMPTS_MAX = 3

/** Claims the key in one atomic statement, or returns its current state. */
export async function claimKey(database: Database, order: ClaimOrder): Promise<FoundKey> {
  const { place, requestId, leaseMs, retentionMs } = order
  const { accountId, keyHash, fingerprint, runId } = place
  const values = [accountId, keyHash, fingerprint, requestId, runId, leaseMs, retentionMs]
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const [claimed] = await database.query<ClaimedRow>(CLAIM, values)
    if (claimed)
      return {
        kind: 'claimed',
        requestId: claimed.request_id,
        storedBytes: Number(claimed.stored_bytes),
      }
    const [row] = await database.query<KeyRow>(READ, [accountId, keyHash])
    if (row) return describeRow(row, fingerprint)
  }
  return { kind: 'running', runningMs: 0 }
}

/** Whether a request with the key has ended. */
export async function hasEnded(
  database: Database,
  { accountId, keyHash }: Pick<KeyPlace, 'accountId' | 'keyHash'>,
): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM idempotency_keys WHERE account_id = $1 AND key_hash = $2 AND expires_at > now()
       AND (answer IS NOT NULL OR is_unkept)`,
    [accountId, keyHash],
  )
  return rows.length > 0
}

interface ClaimedRow {
  readonly request_id: string
  /** The size of all stored answers of the account. */
  readonly stored_bytes: bigint
}

// An expired row counts as absent. A row whose lease has expired is taken over and keeps its request id.
const CLAIM = `
  INSERT INTO idempotency_keys AS kept
    (account_id, key_hash, fingerprint, request_id, run_id, claimed_at, lease_until, expires_at)
  VALUES ($1, $2, $3, $4, $5, now(), now() + $6 * interval '1 millisecond', now() + $7 * interval '1 millisecond')
  ON CONFLICT (account_id, key_hash) DO UPDATE SET
    fingerprint = excluded.fingerprint,
    request_id = CASE WHEN kept.expires_at <= now() THEN excluded.request_id ELSE kept.request_id END,
    expires_at = CASE WHEN kept.expires_at <= now() THEN excluded.expires_at ELSE kept.expires_at END,
    run_id = excluded.run_id,
    claimed_at = excluded.claimed_at,
    lease_until = excluded.lease_until,
    answer = NULL,
    is_unkept = false
  WHERE kept.expires_at <= now()
    OR (kept.fingerprint = excluded.fingerprint AND kept.lease_until <= now()
      AND kept.answer IS NULL AND NOT kept.is_unkept)
  RETURNING request_id, stored_bytes_of(account_id, 'stored_response') AS stored_bytes`

interface KeyRow {
  fingerprint: Buffer
  request_id: string
  answer: Buffer | null
  is_unkept: boolean
  running_ms: number
}

const READ = `
  SELECT fingerprint, request_id, answer, is_unkept,
    (extract(epoch FROM now() - claimed_at) * 1000)::float8 AS running_ms
  FROM idempotency_keys WHERE account_id = $1 AND key_hash = $2`

function describeRow(row: KeyRow, fingerprint: Buffer): FoundKey {
  const { request_id: requestId } = row
  if (!row.fingerprint.equals(fingerprint)) return { kind: 'reused' }
  if (row.answer) return { kind: 'answered', sealed: row.answer, requestId }
  if (row.is_unkept) return { kind: 'unkept', requestId }
  return { kind: 'running', runningMs: row.running_ms }
}
