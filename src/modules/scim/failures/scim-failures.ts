import { createId } from '../../../kernel/identifiers.ts'
import type { ScimOptions } from '../scim-options.ts'
import type { Directory } from '../tokens/scim-tokens.ts'

/** A write of a directory that was refused or failed. */
interface ScimFailure {
  readonly id: string
  readonly tokenId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly detail: string
  readonly createdAtMs: number
}

/** How a synchronisation goes. */
export interface ScimState {
  readonly users: number
  readonly suspendedUsers: number
  readonly groups: number
  /** When a directory last used a token, exact to the minute. Null if none has. */
  readonly lastUsedAtMs: number | null
  /** Whether an active person owns the account. */
  readonly hasOwner: boolean
  /** The newest first. */
  readonly failures: readonly ScimFailure[]
}

export interface ScimFailures {
  note(
    directory: Directory,
    failure: Pick<ScimFailure, 'method' | 'path' | 'status' | 'detail'>,
  ): Promise<void>
  readState(accountId: string): Promise<ScimState>
}

const KEPT_MAX = 20
const TEXT_LENGTH_MAX = 500

export function createScimFailures({
  database,
  clock,
}: Pick<ScimOptions, 'database' | 'clock'>): ScimFailures {
  return {
    note: async ({ accountId, id: tokenId }, { method, path, status, detail }) => {
      const nowMs = clock.nowMs()
      await database.query(
        `WITH written AS (
           INSERT INTO scim_failures (id, account_id, token_id, method, path, status, detail, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8))
         DELETE FROM scim_failures WHERE account_id = $2 AND id <= (
           SELECT id FROM scim_failures WHERE account_id = $2 ORDER BY id DESC OFFSET $9 LIMIT 1)`,
        [
          createId(nowMs),
          accountId,
          tokenId,
          method,
          path.slice(0, TEXT_LENGTH_MAX),
          status,
          detail.slice(0, TEXT_LENGTH_MAX),
          new Date(nowMs),
          KEPT_MAX - 1,
        ],
      )
    },
    readState: async (accountId) => {
      const [counts] = await database.query<{
        users: bigint
        suspended: bigint
        groups: bigint
        last_used_at: Date | null
        has_owner: boolean
      }>(READ_COUNTS, [accountId])
      const failures = await database.query<{
        id: string
        token_id: string
        method: string
        path: string
        status: number
        detail: string
        created_at: Date
      }>(
        `SELECT id, token_id, method, path, status, detail, created_at FROM scim_failures WHERE account_id = $1
         ORDER BY id DESC LIMIT $2`,
        [accountId, KEPT_MAX],
      )
      return {
        users: Number(counts?.users ?? 0),
        suspendedUsers: Number(counts?.suspended ?? 0),
        groups: Number(counts?.groups ?? 0),
        lastUsedAtMs: counts?.last_used_at?.getTime() ?? null,
        hasOwner: counts?.has_owner ?? false,
        failures: failures.map(({ token_id: tokenId, created_at: createdAt, ...failure }) => ({
          ...failure,
          tokenId,
          createdAtMs: createdAt.getTime(),
        })),
      }
    },
  }
}

const READ_COUNTS = `
  SELECT count(s.id) AS users, count(s.id) FILTER (WHERE m.suspended_at IS NOT NULL) AS suspended,
    (SELECT count(*) FROM groups g WHERE g.account_id = $1 AND g.is_scim_managed) AS groups,
    (SELECT max(t.last_used_at) FROM scim_tokens t WHERE t.account_id = $1) AS last_used_at,
    EXISTS (SELECT FROM account_members o JOIN users u ON u.id = o.user_id
      WHERE o.account_id = $1 AND o.role = 'owner' AND o.suspended_at IS NULL AND u.status = 'active') AS has_owner
  FROM scim_users s JOIN account_members m ON m.account_id = s.account_id AND m.user_id = s.user_id WHERE s.account_id = $1`
