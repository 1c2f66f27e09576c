import { AppError } from '../../../kernel/app-error.ts'
import { toStorable } from '../../../kernel/storable-text.ts'
import type { Database } from '../../../storage/database.ts'
import type { Files } from '../../files/files.ts'
import type { Batch, BatchClaim, LineProblem } from '../batch.ts'
import { ANSWERS_NOT_KEPT } from '../batch-caller.ts'
import { BATCH_COLUMNS, batchFromRow, type BatchRow } from '../batch-row.ts'
import { claimValues, IS_STANDING } from '../claim-batch.ts'
import type { LinePace } from '../pace/line-pace.ts'
import { ENDED_COLUMNS, tellEnd, type EndedRow } from './tell-end.ts'
import { hasResults, writeResults, type ResultKind, type UnaskedReason } from './write-results.ts'

interface FinishParts {
  readonly database: Database
  readonly files: Pick<Files, 'store'>
  readonly pace: Pick<LinePace, 'step'>
}

const CANCELLED: UnaskedReason = {
  code: 'batch_cancelled',
  message: 'The batch was cancelled before this line was asked.',
}
const EXPIRED: UnaskedReason = {
  code: 'batch_expired',
  message: 'This line could not be asked before the batch expired.',
}

/** Every line that nobody has begun ends with this error. */
export async function failRest(
  database: Database,
  claim: BatchClaim,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await database.transaction(async (transaction) => {
    const standing = await transaction.query(
      `SELECT FROM batches WHERE ${IS_STANDING} FOR UPDATE`,
      claimValues(claim),
    )
    if (standing.length === 0) return
    await transaction.query(
      `WITH failed AS (
         UPDATE batch_lines SET status = 'failed', error_code = $2, result = $3
         WHERE batch_id = $1 AND status = 'pending' RETURNING number
       )
       UPDATE batches SET lines_failed = lines_failed + (SELECT count(*) FROM failed) WHERE id = $1`,
      [claim.batchId, code, toStorable(message)],
    )
  })
}

/** Writes the files of a batch that has nothing left to ask, and ends it. */
export async function finishBatch(parts: FinishParts, claim: BatchClaim): Promise<void> {
  const { database } = parts
  const [row] = await database.query<BatchRow & { has_unasked: boolean }>(
    `UPDATE batches SET status = CASE status WHEN 'in_progress' THEN 'finalizing' ELSE status END,
       finalizing_at = CASE status WHEN 'in_progress' THEN now() ELSE finalizing_at END
     WHERE ${IS_STANDING}
     RETURNING ${BATCH_COLUMNS},
       EXISTS (SELECT FROM batch_lines WHERE batch_id = batches.id AND status IN ('pending', 'running')) AS has_unasked`,
    claimValues(claim),
  )
  if (row === undefined) return
  const batch = batchFromRow(row)
  const isCancelled = batch.status === 'cancelling'
  const unasked = isCancelled ? CANCELLED : EXPIRED
  let isKept = true
  for (const [kind, fileId] of [
    ['output', batch.outputFileId],
    ['error', batch.errorFileId],
  ] as const)
    if (fileId === null && !(await writeFile(parts, { batch, claim, kind, unasked }))) isKept = false
  const end = isCancelled ? 'cancelled' : !isKept ? 'failed' : row.has_unasked ? 'expired' : 'completed'
  await database.transaction(async (transaction) => {
    const [ended] = await transaction.query<EndedRow>(
      `UPDATE batches SET status = $4, ${end}_at = now(), worker_id = NULL, errors = $5 WHERE ${IS_STANDING} RETURNING ${ENDED_COLUMNS}`,
      [...claimValues(claim), end, isKept ? null : JSON.stringify([NOT_KEPT])],
    )
    if (ended === undefined) return
    for (const table of ['batch_lines', 'batch_parts'])
      await transaction.query(`DELETE FROM ${table} WHERE batch_id = $1`, [claim.batchId])
    await tellEnd(transaction, ended)
  })
}

interface ResultFile {
  readonly batch: Batch
  readonly claim: BatchClaim
  readonly kind: ResultKind
  readonly unasked: UnaskedReason
}

const NOT_KEPT: LineProblem = { code: 'conflict', message: ANSWERS_NOT_KEPT, param: null, line: null }

/** Returns false under zero data retention, which began meanwhile: then there is no file. */
async function writeFile(
  { database, files, pace }: FinishParts,
  { batch, claim, kind, unasked }: ResultFile,
): Promise<boolean> {
  if (!(await hasResults(database, batch.id, kind))) return true
  const column = kind === 'output' ? 'output_file_id' : 'error_file_id'
  try {
    await files.store({
      place: batch,
      keyId: batch.keyId,
      isResult: true,
      purpose: 'batch_output',
      filename: `batch_${batch.id.replaceAll('-', '')}_${kind}.jsonl`,
      source: writeResults(database, batch.id, { kind, unasked, pace }),
      expiresAfterSeconds: batch.outputSeconds,
      // In the transaction of the file, so that a crash leaves no file that no batch names.
      onStored: async (transaction, file) => {
        const rows = await transaction.query(
          `UPDATE batches SET ${column} = $4 WHERE ${IS_STANDING} AND ${column} IS NULL RETURNING id`,
          [...claimValues(claim), file.id],
        )
        if (rows.length === 0) throw new Error('the claim on a batch was lost while its file was written')
      },
    })
    return true
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error
    return false
  }
}
