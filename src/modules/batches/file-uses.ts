import type { Queryable } from '../../storage/database.ts'
import { batchIdOf, messageBatchIdOf } from '../../wires/openai-files/batch-id.ts'
import type { BatchWire } from './batch.ts'
import { IS_UNENDED } from './claim-batch.ts'

/** Names the batch that still reads a file. Null: no batch does. */
export async function findUseByBatch(
  queryable: Queryable,
  accountId: string,
  fileId: string,
): Promise<string | null> {
  const [row] = await queryable.query<{ id: string; wire: BatchWire }>(
    `SELECT id, wire FROM batches WHERE account_id = $1 AND ${IS_UNENDED} AND input_file_id = $2 LIMIT 1`,
    [accountId, fileId],
  )
  if (row === undefined) return null
  const id = row.wire === 'messages' ? messageBatchIdOf(row.id) : batchIdOf(row.id)
  return `the batch ${id}, which has not ended`
}

/** SQL: the batch reads the file of the parameter, or wrote it. */
export function isOfFile(parameter: string): string {
  return `(input_file_id = ${parameter} OR output_file_id = ${parameter} OR error_file_id = ${parameter})`
}
