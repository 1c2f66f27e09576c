import { notFound } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Batch, BatchStatus, BatchWire, LineProblem } from './batch.ts'

export interface BatchRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly key_id: string
  readonly labels: string[] | null
  readonly wire: BatchWire
  readonly endpoint: string
  readonly model: string | null
  readonly input_file_id: string
  readonly output_file_id: string | null
  readonly error_file_id: string | null
  readonly output_seconds: number | null
  readonly runs_as_far: boolean
  readonly line_nano_usd_max: bigint | null
  readonly metadata: Record<string, string> | null
  readonly webhook_url: string | null
  readonly base_url: string | null
  readonly status: BatchStatus
  readonly errors: LineProblem[] | null
  readonly lines_total: number
  readonly lines_completed: number
  readonly lines_failed: number
  readonly input_tokens: bigint
  readonly cached_tokens: bigint
  readonly output_tokens: bigint
  readonly reasoning_tokens: bigint
  readonly cost_nano_usd: bigint
  readonly estimated_nano_usd: bigint
  readonly running_seconds: number | null
  readonly created_at: Date
  readonly expires_at: Date
  readonly in_progress_at: Date | null
  readonly finalizing_at: Date | null
  readonly completed_at: Date | null
  readonly failed_at: Date | null
  readonly expired_at: Date | null
  readonly cancelling_at: Date | null
  readonly cancelled_at: Date | null
}

export const BATCH_COLUMNS = `id, account_id, project_id, key_id, labels, wire, endpoint, model, input_file_id, output_file_id,
  error_file_id, output_seconds, runs_as_far, line_nano_usd_max, metadata, webhook_url, base_url, status, errors, lines_total, lines_completed, lines_failed, input_tokens,
  cached_tokens, output_tokens, reasoning_tokens, cost_nano_usd, estimated_nano_usd, created_at, expires_at, in_progress_at,
  finalizing_at, completed_at, failed_at, expired_at, cancelling_at, cancelled_at,
  extract(epoch FROM coalesce(finalizing_at, cancelled_at, expired_at, now()) - in_progress_at)::float8 AS running_seconds`

export function batchFromRow(row: BatchRow): Batch {
  return {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    keyId: row.key_id,
    labels: row.labels,
    wire: row.wire,
    endpoint: row.endpoint,
    model: row.model,
    inputFileId: row.input_file_id,
    outputFileId: row.output_file_id,
    errorFileId: row.error_file_id,
    outputSeconds: row.output_seconds,
    runsAsFar: row.runs_as_far,
    lineNanoUsdMax: row.line_nano_usd_max,
    metadata: row.metadata,
    webhookUrl: row.webhook_url,
    baseUrl: row.base_url,
    status: row.status,
    errors: row.errors,
    linesTotal: row.lines_total,
    linesCompleted: row.lines_completed,
    linesFailed: row.lines_failed,
    usage: {
      inputTokens: Number(row.input_tokens),
      cachedTokens: Number(row.cached_tokens),
      outputTokens: Number(row.output_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
    },
    costNanoUsd: row.cost_nano_usd,
    estimatedNanoUsd: row.estimated_nano_usd,
    runningSeconds: row.running_seconds,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    inProgressAtMs: timeOf(row.in_progress_at),
    finalizingAtMs: timeOf(row.finalizing_at),
    completedAtMs: timeOf(row.completed_at),
    failedAtMs: timeOf(row.failed_at),
    expiredAtMs: timeOf(row.expired_at),
    cancellingAtMs: timeOf(row.cancelling_at),
    cancelledAtMs: timeOf(row.cancelled_at),
  }
}

function timeOf(date: Date | null): number | null {
  return date?.getTime() ?? null
}

/** Clients find a batch only in the form in which it was made. */
export interface BatchName {
  readonly id: string
  readonly wire: BatchWire
}

/** A batch of another account or project gives the same error as one that does not exist. */
export async function readBatch(queryable: Queryable, place: Place, { id, wire }: BatchName): Promise<Batch> {
  const [row] = await queryable.query<BatchRow>(
    `SELECT ${BATCH_COLUMNS} FROM batches WHERE id = $1 AND ${isWithin(place, '$2')} AND wire = $3`,
    [id, idsOf(place), wire],
  )
  if (row === undefined) throw notFound('batch')
  return batchFromRow(row)
}

/** The batches of these ids that the place has, in the order in which they were made. */
export async function readBatches(
  queryable: Queryable,
  place: Place,
  ids: readonly string[],
): Promise<Batch[]> {
  if (ids.length === 0) return []
  const rows = await queryable.query<BatchRow>(
    `SELECT ${BATCH_COLUMNS} FROM batches WHERE id = ANY ($1::uuid[]) AND ${isWithin(place, '$2')} ORDER BY id`,
    [ids, idsOf(place)],
  )
  return rows.map(batchFromRow)
}
