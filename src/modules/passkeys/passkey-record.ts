/** A passkey of a member of an account. It opens only that account. */
export interface Passkey {
  readonly id: string
  readonly name: string
  /** The host that it works for. */
  readonly relyingPartyId: string
  /** Whether the maker of the device keeps a copy for the person's other devices. */
  readonly isSynced: boolean
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  /** When it was refused because its counter went back: somebody may have a copy of it. */
  readonly doubtedAtMs: number | null
}

export interface PasskeyRow {
  readonly id: string
  readonly name: string
  readonly rp_id: string
  readonly is_synced: boolean
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly doubted_at: Date | null
}

export const PASSKEY_COLUMNS = 'id, name, rp_id, is_synced, created_at, last_used_at, doubted_at'

export function passkeyFromRow(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    name: row.name,
    relyingPartyId: row.rp_id,
    isSynced: row.is_synced,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
    doubtedAtMs: row.doubted_at?.getTime() ?? null,
  }
}
