import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../database.ts'
import type { ArchivedTable } from './archived-tables.ts'
import type { ArchiveName } from './archive-store.ts'
import { parseMonth, type Month } from './month.ts'
import type { Totals } from './row-totals.ts'

type ArchiveStatus = 'writing' | 'complete' | 'stale'

/** A month of a table in files, as the database knows it. */
export interface StoredArchive extends ArchiveName {
  readonly schemaVersion: number
  readonly status: ArchiveStatus
  readonly rows: number
  readonly digest: string
  readonly manifestSha256: string | null
  readonly droppedAt: Date | null
}

export interface StoredPart extends Totals {
  readonly part: number
  readonly bytes: number
  readonly sha256: string
  readonly digest: string
  readonly lastKey: readonly string[]
}

interface ArchiveFilter {
  readonly table?: string | undefined
  readonly month?: Month | undefined
}

/** Oldest first. */
export async function listArchives(
  queryable: Queryable,
  { table, month }: ArchiveFilter = {},
): Promise<StoredArchive[]> {
  const rows = await queryable.query<ArchiveRow>(
    `SELECT id, source, to_char(month, 'YYYY-MM') AS month, schema_version, status, rows, digest::text, manifest_sha256, dropped_at
     FROM archives WHERE source = coalesce($1, source) AND to_char(month, 'YYYY-MM') = coalesce($2, to_char(month, 'YYYY-MM'))
     ORDER BY source, month, id`,
    [table ?? null, month?.name ?? null],
  )
  return rows.map(archiveFromRow)
}

/** Begins an archive. */
export async function createArchive(
  queryable: Queryable,
  { name: table, schemaVersion }: ArchivedTable,
  month: Month,
): Promise<StoredArchive> {
  const id = createId()
  await queryable.query(
    'INSERT INTO archives (id, source, month, schema_version) VALUES ($1, $2, $3::date, $4)',
    [id, table, `${month.name}-01`, schemaVersion],
  )
  const unwritten = { rows: 0, digest: '0', manifestSha256: null, droppedAt: null }
  return { id, table, month, schemaVersion, status: 'writing', ...unwritten }
}

export async function listParts(queryable: Queryable, archiveId: string): Promise<StoredPart[]> {
  const rows = await queryable.query<PartRow>(
    `SELECT part, rows, bytes, sha256, content_sha256, digest::text, sums, last_key FROM archive_parts
     WHERE archive_id = $1 ORDER BY part`,
    [archiveId],
  )
  return rows.map((row) => ({
    part: row.part,
    rows: Number(row.rows),
    bytes: Number(row.bytes),
    sha256: row.sha256,
    contentSha256: row.content_sha256,
    digest: row.digest,
    sums: Object.fromEntries(Object.entries(row.sums).map(([column, sum]) => [column, BigInt(sum)])),
    lastKey: row.last_key,
  }))
}

/** Records a part whose file was read back, with what it adds to the sums of accounts. */
export async function recordPart(
  transaction: Queryable,
  archiveId: string,
  part: StoredPart & { readonly accounts: ReadonlyMap<string, { rows: number; amountNanoUsd: bigint }> },
): Promise<void> {
  const sums = Object.fromEntries(Object.entries(part.sums).map(([column, sum]) => [column, String(sum)]))
  await transaction.query(
    `INSERT INTO archive_parts (archive_id, part, rows, bytes, sha256, content_sha256, digest, sums, last_key)
     VALUES ($1, $2, $3, $4, $5, $6, $7::numeric, $8::jsonb, $9::text[])`,
    [
      archiveId,
      part.part,
      part.rows,
      part.bytes,
      part.sha256,
      part.contentSha256,
      part.digest,
      JSON.stringify(sums),
      [...part.lastKey],
    ],
  )
  const accounts = [...part.accounts]
  await transaction.query(
    `INSERT INTO archived_sums AS known (archive_id, account_id, rows, amount_nano_usd)
     SELECT $1::uuid, account_id, rows, amount FROM unnest($2::uuid[], $3::bigint[], $4::bigint[]) AS added (account_id, rows, amount)
     ON CONFLICT (archive_id, account_id) DO UPDATE SET rows = known.rows + excluded.rows,
       amount_nano_usd = known.amount_nano_usd + excluded.amount_nano_usd`,
    [
      archiveId,
      accounts.map(([accountId]) => accountId),
      accounts.map(([, { rows }]) => rows),
      accounts.map(([, { amountNanoUsd }]) => String(amountNanoUsd)),
    ],
  )
}

export async function completeArchive(
  queryable: Queryable,
  archiveId: string,
  { rows, digest, manifestSha256 }: { rows: number; digest: string; manifestSha256: string },
): Promise<void> {
  await queryable.query(
    `UPDATE archives SET status = 'complete', rows = $2, digest = $3::numeric, manifest_sha256 = $4, completed_at = now()
     WHERE id = $1`,
    [archiveId, rows, digest, manifestSha256],
  )
}

/** Marks archives of the month with the columns of earlier releases as replaced. What is in files only stays. */
export async function replaceEarlier(
  queryable: Queryable,
  { table, month, schemaVersion }: StoredArchive,
): Promise<void> {
  await queryable.query(
    `UPDATE archives SET status = 'stale' WHERE source = $1 AND month = $2::date AND schema_version < $3 AND status = 'complete'
       AND dropped_at IS NULL`,
    [table, `${month.name}-01`, schemaVersion],
  )
}

/** Forgets an archive with its parts and sums. Its files are removed before. */
export async function deleteArchive(queryable: Queryable, archiveId: string): Promise<void> {
  await queryable.query('DELETE FROM archives WHERE id = $1', [archiveId])
}

interface ArchiveRow {
  readonly id: string
  readonly source: string
  readonly month: string
  readonly schema_version: number
  readonly status: ArchiveStatus
  readonly rows: bigint
  readonly digest: string
  readonly manifest_sha256: string | null
  readonly dropped_at: Date | null
}

interface PartRow {
  readonly part: number
  readonly rows: bigint
  readonly bytes: bigint
  readonly sha256: string
  readonly content_sha256: string
  readonly digest: string
  readonly sums: Readonly<Record<string, string>>
  readonly last_key: string[]
}

function archiveFromRow(row: ArchiveRow): StoredArchive {
  const month = parseMonth(row.month)
  if (month === null) throw new Error(`an archive has the month ${row.month}`)
  return {
    id: row.id,
    table: row.source,
    month,
    schemaVersion: row.schema_version,
    status: row.status,
    rows: Number(row.rows),
    digest: row.digest,
    manifestSha256: row.manifest_sha256,
    droppedAt: row.dropped_at,
  }
}
