import type { Queryable } from '../../../storage/database.ts'
import { toStorable } from '../../../kernel/storable-text.ts'
import type { BatchClaim } from '../batch.ts'
import { claimValues, IS_STANDING } from '../claim-batch.ts'
import type { RawLine } from './split-lines.ts'

/** A line that was checked. */
export interface NewLine {
  readonly raw: Pick<RawLine, 'number' | 'firstByte' | 'bytes'>
  readonly customId: string
  /** Set for a line that cannot be asked. */
  readonly problem: { readonly code: string; readonly message: string } | null
}

export async function insertLines(
  queryable: Queryable,
  claim: BatchClaim,
  lines: readonly NewLine[],
): Promise<void> {
  await queryable.query(
    `INSERT INTO batch_lines (batch_id, number, custom_id, first_byte, bytes, status, error_code, result)
     SELECT $1, number, custom_id, first_byte, bytes, CASE WHEN error_code IS NULL THEN 'pending' ELSE 'failed' END, error_code, result
     FROM unnest($4::int[], $5::text[], $6::bigint[], $7::int[], $8::text[], $9::text[])
       AS line (number, custom_id, first_byte, bytes, error_code, result)
     WHERE EXISTS (SELECT FROM batches WHERE ${IS_STANDING})`,
    [
      ...claimValues(claim),
      lines.map(({ raw }) => raw.number),
      lines.map(({ customId }) => customId),
      lines.map(({ raw }) => raw.firstByte),
      lines.map(({ raw }) => raw.bytes),
      lines.map(({ problem }) => problem?.code ?? null),
      lines.map(({ problem }) => (problem === null ? null : toStorable(problem.message))),
    ],
  )
}
