import { AppError } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Environment, Scope } from '../authenticate/caller.ts'
import { createKeyToken, hashKey, shownPrefixOfKey } from '../key-form.ts'
import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from '../key-record.ts'

/** Of a project, and of an account outside of projects. */
const ACTIVE_KEYS_MAX = 1000

export interface KeyDraft {
  readonly name: string
  readonly environment: Environment
  readonly scopes: readonly Scope[]
  readonly allowedModels?: readonly string[] | null
  readonly limitNanoUsd?: NanoUsd | null
  readonly requestsPerMinute?: number | null
  readonly expiresAtMs?: number | null
  readonly parentId?: string | null
  readonly projectId?: string | null
  readonly userId?: string | null
  readonly serviceAccountId?: string | null
  readonly requiredTags?: readonly string[] | null
  readonly fixedTags?: Readonly<Record<string, string>> | null
}

export interface IssuedKey {
  readonly record: KeyRecord
  /** The key in plain text. It cannot be shown again. */
  readonly token: string
}

export async function issueKey(
  queryable: Queryable,
  {
    accountId,
    draft,
    token = createKeyToken(draft.environment),
    nowMs,
  }: {
    accountId: string
    draft: KeyDraft
    token?: string
    nowMs: number
  },
): Promise<IssuedKey> {
  const { expiresAtMs = null } = draft
  const [row] = await queryable.query<KeyRow>(INSERT_KEY, [
    createId(nowMs),
    accountId,
    draft.name,
    draft.environment,
    Buffer.from(hashKey(token), 'hex'),
    shownPrefixOfKey(token),
    draft.scopes,
    draft.allowedModels ?? null,
    draft.limitNanoUsd ?? null,
    draft.requestsPerMinute ?? null,
    expiresAtMs === null ? null : new Date(expiresAtMs),
    new Date(nowMs),
    ACTIVE_KEYS_MAX,
    draft.parentId ?? null,
    draft.projectId ?? null,
    draft.userId ?? null,
    draft.serviceAccountId ?? null,
    draft.requiredTags ?? null,
    draft.fixedTags ? JSON.stringify(draft.fixedTags) : null,
  ])
  if (row === undefined) {
    const place = (draft.projectId ?? null) === null ? 'An account' : 'A project'
    throw new AppError('conflict', `${place} holds at most ${ACTIVE_KEYS_MAX} active keys.`)
  }
  return { record: keyRecordFromRow(row), token }
}

// The first unrestricted key that can manage the account becomes its root key.
const INSERT_KEY = `
  INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes, allowed_models,
    limit_nano_usd, requests_per_minute, expires_at, created_at, parent_id, project_id, user_id, service_account_id, required_tags,
    fixed_tags, is_root)
  SELECT $1, $2::uuid, $3, $4, $5, $6, $7::text[], $8::text[], $9::bigint, $10::int, $11::timestamptz, $12, $14::uuid,
    $15::uuid, $16::uuid, $17::uuid, $18::text[], $19::jsonb,
    'manage' = ANY ($7::text[]) AND coalesce($8::text[]::text, $9::bigint::text, $10::int::text, $11::timestamptz::text,
      $14::uuid::text, $15::uuid::text, $16::uuid::text) IS NULL
      AND NOT EXISTS (SELECT FROM api_keys WHERE account_id = $2 AND is_root AND revoked_at IS NULL)
  WHERE (SELECT count(*) FROM api_keys
    WHERE account_id = $2 AND project_id IS NOT DISTINCT FROM $15::uuid AND revoked_at IS NULL AND NOT is_of_sessions) < $13
  RETURNING ${KEY_COLUMNS}`
