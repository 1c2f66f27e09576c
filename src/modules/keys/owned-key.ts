import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from './key-record.ts'

/** A key with its owner. */
export interface OwnedKey extends KeyRecord {
  /** Null for a key that belongs to the account itself. */
  readonly owner: KeyOwner | null
}

interface KeyOwner {
  readonly kind: 'user' | 'service_account'
  readonly id: string
  /** Null for a service account. */
  readonly email: string | null
  readonly name: string | null
  readonly role: string
  readonly createdAtMs: number
}

export interface OwnedKeyRow extends KeyRow {
  readonly owner: {
    readonly kind: 'user' | 'service_account'
    readonly id: string
    readonly email: string | null
    readonly name: string | null
    readonly role: string
    readonly at: number
  } | null
}

export const SELECT_OWNED_KEY = `
  SELECT ${KEY_COLUMNS}, coalesce(
    (SELECT json_build_object('kind', 'service_account', 'id', s.id, 'email', NULL, 'name', s.name, 'role', s.role,
       'at', floor(extract(epoch FROM s.created_at)))
     FROM service_accounts s WHERE s.id = api_keys.service_account_id),
    (SELECT json_build_object('kind', 'user', 'id', u.id, 'email', u.email, 'name', m.name, 'role', coalesce(j.role, m.role),
       'at', floor(extract(epoch FROM m.added_at)))
     FROM account_members m JOIN users u ON u.id = m.user_id
     LEFT JOIN project_members j ON j.project_id = api_keys.project_id AND j.user_id = m.user_id
     WHERE m.account_id = api_keys.account_id AND m.user_id = api_keys.user_id)) AS owner
  FROM api_keys`

const SECOND_MS = 1000

export function ownedKeyFromRow({ owner, ...row }: OwnedKeyRow): OwnedKey {
  if (owner === null) return { ...keyRecordFromRow(row), owner }
  const { at, ...named } = owner
  return { ...keyRecordFromRow(row), owner: { ...named, createdAtMs: at * SECOND_MS } }
}
