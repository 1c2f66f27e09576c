import type { Database, Queryable } from '../../../storage/database.ts'
import type { BatchClaim } from '../batch.ts'
import { claimValues, IS_STANDING } from '../claim-batch.ts'

/** Lines of a batch that one batch of a vendor answers. */
export interface PartRow {
  readonly id: string
  readonly provider: string
  readonly keyMark: string
  readonly path: string
  readonly model: string
  readonly createdAtMs: number
  /** Whether the vendor may have it. */
  readonly isSent: boolean
  /** Null while it is not known. */
  readonly vendorId: string | null
}

/** Stores a part before anything of it is sent. Returns false if the claim was lost. */
export async function insertPart(
  database: Database,
  claim: BatchClaim,
  part: PartRow,
  numbers: readonly number[],
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    if (!(await lockBatch(transaction, claim))) return false
    const { id, provider, keyMark, path, model, createdAtMs } = part
    await transaction.query(
      `INSERT INTO batch_parts (id, batch_id, provider, key_mark, path, model, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
      [id, claim.batchId, provider, keyMark, path, model, new Date(createdAtMs)],
    )
    await transaction.query(
      'UPDATE batch_lines SET part_id = $2 WHERE batch_id = $1 AND number = ANY ($3::int[])',
      [claim.batchId, id, numbers],
    )
    return true
  })
}

/** Called right before the vendor gets the part, with the lines that it has. Returns false if the claim was lost: then nothing may be sent. */
export function notePartSent(
  database: Database,
  claim: BatchClaim,
  id: string,
  numbers: readonly number[],
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    if (!(await lockBatch(transaction, claim))) return false
    // After another worker has died, some of its lines may be missing, because the credit for them is gone.
    await transaction.query(
      'UPDATE batch_lines SET part_id = NULL WHERE batch_id = $1 AND part_id = $2 AND number <> ALL ($3::int[])',
      [claim.batchId, id, numbers],
    )
    return update(transaction, claim, id, 'sent_at = coalesce(sent_at, now())')
  })
}

/** Before its lines, as all writers do. Returns false if the claim was lost. */
async function lockBatch(transaction: Queryable, claim: BatchClaim): Promise<boolean> {
  const standing = await transaction.query(
    `SELECT FROM batches WHERE ${IS_STANDING} FOR UPDATE`,
    claimValues(claim),
  )
  return standing.length > 0
}

/** How many lines the vendor got with a part. */
export async function countLinesOfPart(queryable: Queryable, batchId: string, id: string): Promise<number> {
  const [row] = await queryable.query<{ count: bigint }>(
    'SELECT count(*) FROM batch_lines WHERE batch_id = $1 AND part_id = $2',
    [batchId, id],
  )
  return Number(row?.count ?? 0)
}

export async function notePartMade(
  database: Database,
  claim: BatchClaim,
  id: string,
  vendorId: string,
): Promise<boolean> {
  return update(database, claim, id, 'vendor_id = $5', [vendorId])
}

/** Which batch of the vendor answers a part, as far as it is stored. Undefined: the part is not followed any more. */
export async function readVendorId(queryable: Queryable, id: string): Promise<string | null | undefined> {
  const [row] = await queryable.query<{ vendor_id: string | null }>(
    'SELECT vendor_id FROM batch_parts WHERE id = $1 AND over_at IS NULL',
    [id],
  )
  return row?.vendor_id
}

/** Every line of the part has ended, or is asked by itself. */
export function closePart(database: Database, claim: BatchClaim, id: string): Promise<boolean> {
  return update(database, claim, id, 'over_at = now()')
}

async function update(
  queryable: Queryable,
  claim: BatchClaim,
  id: string,
  change: string,
  values: readonly unknown[] = [],
): Promise<boolean> {
  const rows = await queryable.query(
    `UPDATE batch_parts SET ${change}
     WHERE id = $4 AND batch_id IN (SELECT id FROM batches WHERE ${IS_STANDING}) RETURNING id`,
    [...claimValues(claim), id, ...values],
  )
  return rows.length > 0
}

interface StoredPart {
  readonly id: string
  readonly provider: string
  readonly key_mark: string
  readonly path: string
  readonly model: string
  readonly created_at: Date
  readonly is_sent: boolean
  readonly vendor_id: string | null
  readonly numbers: number[] | null
}

export interface OpenPart extends PartRow {
  /** The lines that have not ended. */
  readonly numbers: readonly number[]
}

/** The parts that the last worker left. */
export async function readOpenParts(queryable: Queryable, batchId: string): Promise<OpenPart[]> {
  const rows = await queryable.query<StoredPart>(
    `SELECT id, provider, key_mark, path, model, created_at, sent_at IS NOT NULL AS is_sent, vendor_id,
       (SELECT array_agg(number ORDER BY number) FROM batch_lines
        WHERE batch_id = part.batch_id AND part_id = part.id AND status = 'pending') AS numbers
     FROM batch_parts AS part WHERE batch_id = $1 AND over_at IS NULL ORDER BY id`,
    [batchId],
  )
  return rows.map((row) => ({
    id: row.id,
    provider: row.provider,
    keyMark: row.key_mark,
    path: row.path,
    model: row.model,
    createdAtMs: row.created_at.getTime(),
    isSent: row.is_sent,
    vendorId: row.vendor_id,
    numbers: row.numbers ?? [],
  }))
}

/** Which of these ids of a vendor belong to parts. */
export async function findKnownParts(
  queryable: Queryable,
  provider: string,
  vendorIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await queryable.query<{ vendor_id: string }>(
    'SELECT vendor_id FROM batch_parts WHERE provider = $1 AND vendor_id = ANY ($2::text[])',
    [provider, vendorIds],
  )
  return new Set(rows.map(({ vendor_id: id }) => id))
}
