import { Batches } from '../../../kernel/batches.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createRequestId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { toStorable } from '../../../kernel/storable-text.ts'
import type { Database } from '../../../storage/database.ts'
import type { BatchClaim, BatchUsage } from '../batch.ts'
import type { LinePace } from '../pace/line-pace.ts'
import { claimValues, IS_STANDING } from '../claim-batch.ts'

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
  /** The same for many lines at once, by their numbers. */
  beginAll(numbers: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** Lines that were begun ahead and are not asked here. */
  giveBack(numbers: readonly number[]): Promise<void>
  /** Stores the result and the counters of the batch. False if the claim was lost. */
  end(end: LineEnd): Promise<boolean>
}

const BATCH_MAX = 256
/** A longer result is written alone: many of them would be more than one statement of the database takes. */
const GROUPED_LENGTH_MAX = 256 * 1024

interface LineWriterParts {
  readonly database: Database
  readonly clock: Clock
  readonly pace: Pick<LinePace, 'gather'>
}

/** Groups concurrent writes of one batch into one transaction. */
export function createLineWriter({ database, clock, pace }: LineWriterParts, claim: BatchClaim): LineWriter {
  const begins = new Batches<number, { requestId: string | null }>(
    (numbers) => beginLines(database, claim, numbers, clock.nowMs()),
    BATCH_MAX,
  )
  const ends = new Batches<LineEnd, boolean>((batch) => endLines(database, claim, batch), BATCH_MAX)
  return {
    begin: async (number) => (await begins.add(number)).requestId,
    beginAll: (numbers) => beginAll(database, claim, numbers, clock.nowMs()),
    giveBack: async (numbers) => {
      if (numbers.length > 0) await database.query(GIVE_BACK, [claim.batchId, claim.number, numbers])
    },
    end: async (end) => {
      await pace.gather()
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
  const requestIds = await beginAll(database, claim, numbers, nowMs)
  return numbers.map((number) => ({ requestId: requestIds.get(number) ?? null }))
}

async function beginAll(
  database: Database,
  claim: BatchClaim,
  numbers: readonly number[],
  nowMs: number,
): Promise<ReadonlyMap<number, string>> {
  const newIds = Object.fromEntries(numbers.map((number) => [number, createRequestId(nowMs)]))
  const rows = await database.query<{ number: number; request_id: string }>(BEGIN, [
    ...claimValues(claim),
    numbers,
    JSON.stringify(newIds),
  ])
  return new Map(rows.map((row) => [row.number, row.request_id]))
}

// What is written is looked up by the number of the line, here and below. The planner does not know how many lines a batch has, so that
// a join with a list reads the list for each line, or all lines of the batch.
// A repeated start by the same claim counts once: the first reply of the database may have been lost.
const BEGIN = `
  UPDATE batch_lines AS line SET status = 'running', claim = $3, tries = least(line.tries + 1, 32000),
    request_id = coalesce(line.request_id, $5::jsonb ->> line.number::text)
  WHERE EXISTS (SELECT FROM batches WHERE ${IS_STANDING})
    AND line.batch_id = $1 AND line.number = ANY ($4::int[])
    AND (line.status = 'pending' OR (line.status = 'running' AND line.claim = $3))
  RETURNING line.number, line.request_id`

// No model was asked under their request ids.
const GIVE_BACK = `
  UPDATE batch_lines SET status = 'pending', tries = greatest(tries - 1, 0), request_id = NULL
  WHERE batch_id = $1 AND number = ANY ($3::int[]) AND status = 'running' AND claim = $2`

async function endLines(database: Database, claim: BatchClaim, ends: readonly LineEnd[]): Promise<boolean[]> {
  const rows = await database.query<{ number: number }>(END, [
    claim.batchId,
    claim.number,
    ends.map(({ number }) => number),
    JSON.stringify(Object.fromEntries(ends.map((end) => [end.number, figuresOf(end)]))),
    JSON.stringify(Object.fromEntries(ends.flatMap(resultOf))),
  ])
  const written = new Set(rows.map(({ number }) => number))
  return ends.map(({ number }) => written.has(number))
}

/** In the order of `FIGURE`. */
function figuresOf(end: LineEnd): readonly unknown[] {
  const isPending = end.status === 'pending'
  const usage = isPending ? null : end.usage
  return [
    end.status,
    String(end.chargedNanoUsd),
    isPending && end.isIdSpent,
    isPending ? null : end.httpStatus,
    usage?.inputTokens ?? 0,
    usage?.cachedTokens ?? 0,
    usage?.outputTokens ?? 0,
    usage?.reasoningTokens ?? 0,
  ]
}

function resultOf(end: LineEnd): [number, string][] {
  return end.status === 'pending' ? [] : [[end.number, toStorable(end.result)]]
}

/** SQL: what `figuresOf` gives for a line. */
const FIGURE = (index: number): string => `($4::jsonb -> line.number::text ->> ${index})`

// The batch is locked before its lines, as all writers do.
const END = `
  WITH locked AS MATERIALIZED (
    SELECT FROM batches WHERE id = $1 FOR UPDATE
  ), ended AS (
    UPDATE batch_lines AS line SET status = ${FIGURE(0)}, http_status = ${FIGURE(3)}::smallint,
      result = $5::jsonb ->> line.number::text,
      tries = CASE ${FIGURE(0)} WHEN 'pending' THEN greatest(line.tries - 1, 0) ELSE line.tries END,
      request_id = CASE WHEN ${FIGURE(2)}::boolean THEN NULL ELSE line.request_id END,
      counted_nano_usd = CASE WHEN ${FIGURE(2)}::boolean THEN 0 ELSE line.counted_nano_usd + ${FIGURE(1)}::bigint END
    WHERE EXISTS (SELECT FROM locked)
      AND line.batch_id = $1 AND line.number = ANY ($3::int[]) AND line.status = 'running' AND line.claim = $2
    RETURNING line.number, line.status, ${FIGURE(1)}::bigint AS charged, ${FIGURE(4)}::bigint AS input_tokens,
      ${FIGURE(5)}::bigint AS cached_tokens, ${FIGURE(6)}::bigint AS output_tokens, ${FIGURE(7)}::bigint AS reasoning_tokens
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
