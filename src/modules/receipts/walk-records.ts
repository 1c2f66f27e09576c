import { ID_BEFORE_ALL } from '../../kernel/page.ts'
import { firstIdAt } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { WRITTEN_COLUMNS, writeRecord, type WrittenRow } from './written-record.ts'

/** Of one read. To write and hash so many takes some milliseconds. */
const STEP_RECORDS = 250

export interface Span {
  readonly fromMs: number
  /** The end is not part of it. */
  readonly toMs: number
}

export interface WrittenRecord {
  readonly id: string
  readonly line: string
  readonly costNanoUsd: bigint
}

/** The records of requests that began in this time, by id, some at a time. */
export async function* walkRecords(
  queryable: Queryable,
  accountId: string,
  { fromMs, toMs }: Span,
): AsyncGenerator<readonly WrittenRecord[], void> {
  let afterId = ID_BEFORE_ALL
  for (;;) {
    const rows = await queryable.query<WrittenRow>(
      `SELECT ${WRITTEN_COLUMNS} FROM usage_records
       WHERE account_id = $1 AND id >= $2 AND id < $3 AND id > $4 ORDER BY id LIMIT $5`,
      [accountId, firstIdAt(fromMs), firstIdAt(toMs), afterId, STEP_RECORDS],
    )
    if (rows.length > 0)
      yield rows.map((row) => ({
        id: row.id,
        line: writeRecord(accountId, row),
        costNanoUsd: row.cost_nano_usd,
      }))
    const last = rows.at(-1)
    if (last === undefined || rows.length < STEP_RECORDS) return
    afterId = last.id
  }
}
