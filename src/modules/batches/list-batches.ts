import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Batch, BatchWire } from './batch.ts'
import { isOfFile } from './file-uses.ts'
import { BATCH_COLUMNS, batchFromRow, type BatchRow } from './batch-row.ts'

export interface BatchPage extends PageRequest {
  /** The page ends before this entry. Null: it begins behind `afterId`. */
  readonly beforeId?: string | null
}

/** Which batches are listed. */
export interface BatchFilter {
  readonly wire: BatchWire
  /** Only those that read or wrote this file. */
  readonly fileId?: string | undefined
}

/** A list has the first mistakes of each batch, because all of them would be very long. */
const LISTED_COLUMNS = BATCH_COLUMNS.replace(
  ' errors,',
  ` jsonb_path_query_array(errors, '$[0 to 9]') AS errors,`,
)

export async function listBatches(
  queryable: Queryable,
  place: Place,
  { wire, fileId }: BatchFilter,
  { limit, afterId, beforeId = null }: BatchPage,
): Promise<OpenPage<Batch>> {
  const isBackwards = beforeId !== null
  const rows = await queryable.query<BatchRow>(
    `SELECT ${LISTED_COLUMNS} FROM batches
     WHERE ${isWithin(place, '$1')} AND wire = $2 AND id ${isBackwards ? '>' : '<'} $3
       AND ($5::uuid IS NULL OR ${isOfFile('$5')})
     ORDER BY id ${isBackwards ? 'ASC' : 'DESC'} LIMIT $4`,
    [idsOf(place), wire, beforeId ?? afterId ?? ID_AFTER_ALL, limit + 1, fileId ?? null],
  )
  const page = openPage(rows.map(batchFromRow), limit)
  return isBackwards ? { ...page, items: page.items.toReversed() } : page
}
