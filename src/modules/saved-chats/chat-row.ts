import type { Sealer } from '../../kernel/seal-text.ts'
import type { Caller } from '../keys/keys.ts'
import { placeOf } from './seal-chat.ts'

export const CHAT_KINDS = ['prompt', 'conversation'] as const
type ChatKind = (typeof CHAT_KINDS)[number]

/** What somebody keeps, without its content. */
export interface SavedChat {
  readonly id: string
  readonly kind: ChatKind
  readonly name: string
  readonly isShared: boolean
  /** Whether it is the caller's. */
  readonly isOwn: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly expiresAtMs: number | null
}

export interface ChatRow {
  readonly account_id: string
  readonly id: string
  readonly owner_id: string
  readonly kind: ChatKind
  readonly is_shared: boolean
  readonly name: Buffer
  readonly created_at: Date
  readonly updated_at: Date
  readonly expires_at: Date | null
}

export const COLUMNS = 'account_id, id, owner_id, kind, is_shared, name, created_at, updated_at, expires_at'

/** The person, over all their keys, or the key of the account that the request or its session began with. */
export function ownerOf({ userId, session, keyId }: Caller): string {
  return userId ?? session?.keyId ?? keyId
}

export function chatFromRow(row: ChatRow, caller: Caller, sealer: Sealer): SavedChat {
  return {
    id: row.id,
    kind: row.kind,
    name: sealer.open(row.name, placeOf('name', row.account_id, row.id)) ?? 'Not readable',
    isShared: row.is_shared,
    isOwn: row.owner_id === ownerOf(caller),
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
    expiresAtMs: row.expires_at?.getTime() ?? null,
  }
}
