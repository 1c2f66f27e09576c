import { Batches } from '../../../kernel/batches.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createRequestId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { toStorable } from '../../../kernel/storable-text.ts'
import type { Database } from '../../../storage/database.ts'
import type { BatchClaim, BatchUsage } from '../batch.ts'
import { claimValues } from '../claim-batch.ts'

/** How a line that was begun ended. Charges that are not counted yet are added to the cost of the batch. */
export type LineEnd =
  | {
      readonly status: 'completed' | 'failed'
      readonly number: number
      readonly chargedNanoUsd: NanoUsd
      readonly httpStatus: number
      /** JSON. */
      readonly result: string
      readonly usage: BatchUsage | null
    }
  /** Ask the line again, under a new id if this one must not be used again. */
  | {
      readonly status: 'pending'
      readonly number: number
      readonly chargedNanoUsd: NanoUsd
      readonly isIdSpent: boolean
    }

export interface LineWriter {
  /** Stores and returns the request id of the line. Null if the claim was lost. */
  begin(number: number): Promise<string | null>
  /** Stores the result and the counters of the batch. False if the claim was lost. */
  end(end: LineEnd): Promise<boolean>
}

const BATCH_MAX = 100
/** A longer result is written alone: many of them would be more than one statement of the database takes. */
const GROUPED_LENGTH_MAX = 256 * 1024

interface LineWriterParts {
  readonly database: Database
  readonly clock: Clock
}

/** Groups concurrent writes of one batch into one transaction. */
export function createLineWriter({ database, clock }: LineWriterParts, claim: BatchClaim): LineWriter {
  const begins = new Batches<number, { requestId: string | null }>(
    (numbers) => beginLines(database, claim, numbers, clock.nowMs()),
    BATCH_MAX,
  )
  const ends = new Batches<LineEnd, boolean>((batch) => endLines(database, claim, batch), BATCH_MAX)
  return {
    begin: async (number) => (await begins.add(number)).requestId,
    end: async (end) => {
      const isGrouped = end.status === 'pending' || end.result.length <= GROUPED_LENGTH_MAX
      return isGrouped ? ends.add(end) : (await endLines(database, claim, [end]))[0] === true
    },
  }
}

async function beginLines(
  database: Database,
  claim: BatchClaim,
  numbers: readonly number[],
  nowMs: number,
): Promise<{ requestId: string | null }[]> {
  const rows = await database.query<{ number: number; request_id: string }>(BEGIN, [
    ...claimValues(claim),
    numbers,
    numbers.map(() => createRequestId(nowMs)),
  ])
  const requestIds = new Map(rows.map((row) => [row.number, row.request_id]))
  return numbers.map((number) => ({ requestId: requestIds.get(number) ?? null }))
}

// A repeated start by the same claim counts once: the first reply of the database may have been lost.
const BEGIN = `
  UPDATE batch_lines AS line SET status = 'running', claim = batch.claim, tries = least(line.tries + 1, 32000),
    request_id = coalesce(line.request_id, given.request_id)
  FROM unnest($4::int[], $5::text[]) AS given (number, request_id), batches AS batch
  WHERE batch.id = $1 AND batch.worker_id = $2 AND batch.claim = $3
    AND line.batch_id = batch.id AND line.number = given.number
    AND (line.status = 'pending' OR (line.status = 'running' AND line.claim = batch.claim))
  RETURNING line.number, line.request_id`

function endLines(database: Database, claim: BatchClaim, ends: readonly LineEnd[]): Promise<boolean[]> {
  return database.transaction(async (transaction) => {
    // Lock the batch before its lines, as all writers do.
    await transaction.query('SELECT FROM batches WHERE id = $1 FOR UPDATE', [claim.batchId])
    const results = ends.map((end) => (end.status === 'pending' ? null : end))
    const rows = await transaction.query<{ number: number }>(END, [
      claim.batchId,
      claim.number,
      ends.map(({ number }) => number),
      ends.map(({ status }) => status),
      ends.map(({ chargedNanoUsd }) => String(chargedNanoUsd)),
      ends.map((end) => end.status === 'pending' && end.isIdSpent),
      results.map((end) => end?.httpStatus ?? null),
      results.map((end) => (end === null ? null : toStorable(end.result))),
      results.map((end) => end?.usage?.inputTokens ?? 0),
      results.map((end) => end?.usage?.cachedTokens ?? 0),
      results.map((end) => end?.usage?.outputTokens ?? 0),
      results.map((end) => end?.usage?.reasoningTokens ?? 0),
    ])
    const written = new Set(rows.map(({ number }) => number))
    return ends.map(({ number }) => written.has(number))
  })
}

const END = `
  WITH ended AS (
    UPDATE batch_lines AS line SET status = given.status, http_status = given.http_status, result = given.result,
      tries = CASE given.status WHEN 'pending' THEN greatest(line.tries - 1, 0) ELSE line.tries END,
      request_id = CASE WHEN is_id_spent THEN NULL ELSE line.request_id END,
      counted_nano_usd = CASE WHEN is_id_spent THEN 0 ELSE line.counted_nano_usd + charged END
    FROM unnest($3::int[], $4::text[], $5::bigint[], $6::boolean[], $7::smallint[], $8::text[], $9::bigint[], $10::bigint[],
      $11::bigint[], $12::bigint[]) AS given (number, status, charged, is_id_spent, http_status, result, input_tokens,
      cached_tokens, output_tokens, reasoning_tokens)
    WHERE line.batch_id = $1 AND line.number = given.number AND line.status = 'running' AND line.claim = $2
    RETURNING line.number, line.status, charged, input_tokens, cached_tokens, output_tokens, reasoning_tokens
  ), of_batch AS (
    UPDATE batches SET lines_completed = lines_completed + completed, lines_failed = lines_failed + failed,
      cost_nano_usd = cost_nano_usd + charged, input_tokens = batches.input_tokens + sums.input_tokens,
      cached_tokens = batches.cached_tokens + sums.cached_tokens, output_tokens = batches.output_tokens + sums.output_tokens,
      reasoning_tokens = batches.reasoning_tokens + sums.reasoning_tokens
    FROM (SELECT count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed,
        sum(charged) AS charged, sum(input_tokens) AS input_tokens, sum(cached_tokens) AS cached_tokens,
        sum(output_tokens) AS output_tokens, sum(reasoning_tokens) AS reasoning_tokens FROM ended) AS sums
    WHERE batches.id = $1 AND sums.charged IS NOT NULL
  )
  SELECT number FROM ended`
