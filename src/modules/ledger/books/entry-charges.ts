import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'

/** A part of a charge: what requests of one key to one model cost. */
export interface EntryCharge {
  /** Null for what is beyond the parts that are listed. */
  readonly key: ChargedKey | null
  readonly model: string | null
  readonly requests: number
  readonly amountNanoUsd: NanoUsd
}

interface ChargedKey {
  readonly id: string
  /** Null if the key does not exist any more. */
  readonly name: string | null
  readonly projectId: string
  readonly projectName: string | null
}

/** Key, model, requests and nano-dollars, as `CHARGES_OF_ENTRY` writes them. */
export type StoredCharge = readonly [keyId: string, model: string, requests: number, amount: string]

type ChargeNames = ReadonlyMap<string, ChargedKey>

/** The names of the keys and of their projects, as they are now. */
export async function readChargeNames(
  queryable: Queryable,
  accountId: string,
  charges: readonly StoredCharge[],
): Promise<ChargeNames> {
  const keyIds = [...new Set(charges.map(([keyId]) => keyId))]
  if (keyIds.length === 0) return new Map()
  const rows = await queryable.query<NameRow>(READ_NAMES, [accountId, keyIds])
  return new Map(
    rows.map((row) => [
      row.key_id,
      { id: row.key_id, name: row.key_name, projectId: row.project_id, projectName: row.project_name },
    ]),
  )
}

interface NameRow {
  readonly key_id: string
  readonly key_name: string | null
  readonly project_id: string
  readonly project_name: string | null
}

/** Keys that do not exist any more count for the project `Default`, as on statements. */
const READ_NAMES = `
  SELECT asked.id AS key_id, keys.name AS key_name, coalesce(keys.project_id, $1::uuid) AS project_id, projects.name AS project_name
  FROM unnest($2::uuid[]) AS asked (id)
  LEFT JOIN api_keys keys ON keys.account_id = $1 AND keys.id = asked.id
  LEFT JOIN projects ON projects.account_id = $1 AND projects.id = coalesce(keys.project_id, $1::uuid)`

interface ChargeRow {
  readonly amount_nano_usd: bigint
  readonly charges: readonly StoredCharge[]
  /** Of all parts, also those that are not listed. */
  readonly requests: bigint
}

/** The parts of an entry, which add up to its amount. */
export function chargesFromRow(row: ChargeRow, names: ChargeNames): readonly EntryCharge[] {
  const parts: EntryCharge[] = row.charges.map(([keyId, model, requests, amount]) => ({
    key: names.get(keyId) ?? null,
    model,
    requests,
    amountNanoUsd: BigInt(amount),
  }))
  const rest = parts.reduce((left, { amountNanoUsd }) => left - amountNanoUsd, -row.amount_nano_usd)
  if (rest === 0n) return parts
  const requests = parts.reduce((left, part) => left - part.requests, Number(row.requests))
  return [...parts, { key: null, model: null, requests, amountNanoUsd: rest }]
}
