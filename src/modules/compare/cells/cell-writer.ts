import { Batches } from '../../../kernel/batches.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createRequestId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { toStorableJson } from '../../../kernel/storable-text.ts'
import type { Database } from '../../../storage/database.ts'
import { errorCodeOf } from '../../../storage/storage-error.ts'
import type { CellScores } from '../scores/cell-scores.ts'
import type { ToldCall } from './chat-call.ts'

/** A claim on a run. Writes under a lost claim have no effect. */
export interface RunClaim {
  readonly runId: string
  readonly workerId: string
  readonly number: number
}

export interface CellKey {
  readonly promptIndex: number
  readonly repeat: number
  readonly lanePosition: number
}

/** How a started cell ended. Charges that are not counted yet are added to its cost. */
export type CellEnd =
  | (ChargedEnd & {
      readonly status: 'completed'
      readonly answer: ToldCall
      readonly score: number | null
      readonly scores: CellScores | null
    })
  | (ChargedEnd & { readonly status: 'failed'; readonly code: string; readonly message: string } & Asked)
  /** Ask the cell again, under a new id if this id must not be reused. */
  | (ChargedEnd & { readonly status: 'pending'; readonly isIdSpent: boolean })

interface ChargedEnd {
  readonly key: CellKey
  readonly chargedNanoUsd: NanoUsd
}

interface Asked {
  readonly model?: string | null
  readonly provider?: string | null
}

export interface CellWriter {
  /** Stores and returns the request id of the cell. Null if the claim was lost or the run was cancelled. */
  begin(key: CellKey): Promise<string | null>
  /** Stores the result with the counters of lane and run. False if the claim was lost. */
  end(end: CellEnd): Promise<boolean>
}

const BATCH_MAX = 100

interface CellWriterParts {
  readonly database: Database
  readonly clock: Clock
}

/** Groups concurrent writes of one run into one transaction. */
export function createCellWriter({ database, clock }: CellWriterParts, claim: RunClaim): CellWriter {
  const begins = new Batches<CellKey, { requestId: string | null }>(
    (keys) => beginCells(database, claim, keys, clock.nowMs()),
    BATCH_MAX,
  )
  const ends = new Batches<CellEnd, boolean>((batch) => endCells(database, claim, batch), BATCH_MAX)
  return {
    begin: async (key) => (await begins.add(key)).requestId,
    end: (end) => ends.add(end),
  }
}

async function beginCells(
  database: Database,
  { runId, workerId, number }: RunClaim,
  keys: readonly CellKey[],
  nowMs: number,
): Promise<{ requestId: string | null }[]> {
  const columns = keys.map((key) => ({ ...keyColumns(key), request_id: createRequestId(nowMs) }))
  const rows = await database.query<KeyRow & { request_id: string }>(BEGIN, [
    runId,
    workerId,
    number,
    JSON.stringify(columns),
  ])
  const requestIds = new Map(rows.map((row) => [nameOf(row), row.request_id]))
  return columns.map((row) => ({ requestId: requestIds.get(nameOf(row)) ?? null }))
}

/** A result that the database refuses is written as a failure, so that its cell is not asked again and others are kept. */
async function endCells(database: Database, claim: RunClaim, ends: readonly CellEnd[]): Promise<boolean[]> {
  try {
    return await writeEnds(database, claim, ends)
  } catch (error) {
    const [end, ...others] = ends
    if (!isRefusedData(error) || end === undefined) throw error
    if (others.length > 0) {
      const written: boolean[] = []
      for (const one of ends) written.push(...(await endCells(database, claim, [one])))
      return written
    }
    if (end.status === 'pending') throw error
    const { key, chargedNanoUsd } = end
    return writeEnds(database, claim, [{ key, status: 'failed', chargedNanoUsd, ...UNSTORABLE }])
  }
}

const UNSTORABLE = { code: 'internal_error', message: 'The answer could not be stored.' }

/** A value that does not fit its column, or exceeds a limit of PostgreSQL: another try would not help. */
function isRefusedData(error: unknown): boolean {
  return /^(22|54)/.test(errorCodeOf(error) ?? '')
}

function writeEnds(database: Database, claim: RunClaim, ends: readonly CellEnd[]): Promise<boolean[]> {
  const columns = ends.map(endColumns)
  return database.transaction(async (transaction) => {
    // Lock the run before its cells, as all writers do.
    await transaction.query('SELECT FROM compare_runs WHERE id = $1 FOR UPDATE', [claim.runId])
    const rows = await transaction.query<KeyRow>(END, [claim.runId, claim.number, toStorableJson(columns)])
    const written = new Set(rows.map(nameOf))
    return columns.map((row) => written.has(nameOf(row)))
  })
}

interface KeyRow {
  readonly prompt_index: number
  readonly repeat: number
  readonly lane_position: number
}

function keyColumns({ promptIndex, repeat, lanePosition }: CellKey): KeyRow {
  return { prompt_index: promptIndex, repeat, lane_position: lanePosition }
}

function nameOf({ prompt_index: promptIndex, repeat, lane_position: lanePosition }: KeyRow): string {
  return `${promptIndex}.${repeat}.${lanePosition}`
}

function endColumns(end: CellEnd): KeyRow {
  const { key, status, chargedNanoUsd } = end
  const shared = { ...keyColumns(key), status, charged: String(chargedNanoUsd) }
  if (end.status === 'pending') {
    const columns = { is_id_spent: end.isIdSpent }
    return { ...shared, ...columns }
  }
  if (end.status === 'failed') {
    const { code, message, model, provider } = end
    const columns = { error_code: code, error_message: message, model, provider }
    return { ...shared, ...columns }
  }
  const { answer, score, scores } = end
  const columns = {
    output: answer.output,
    reasoning: answer.reasoning,
    // Use SQL null, not JSON null.
    ...(answer.toolCalls !== null && { tool_calls: answer.toolCalls }),
    ...(answer.usage !== null && { usage: answer.usage }),
    finish_reason: answer.finishReason,
    latency_ms: answer.latencyMs,
    ttft_ms: answer.ttftMs,
    model: answer.model,
    provider: answer.provider,
    score,
    ...(scores !== null && { scores }),
  }
  return { ...shared, ...columns }
}

const IS_THE_CELL = `cell.run_id = $1 AND cell.prompt_index = given.prompt_index AND cell.repeat = given.repeat
  AND cell.lane_position = given.lane_position`
const KEY = 'cell.prompt_index, cell.repeat, cell.lane_position'
const KEY_TYPES = 'prompt_index integer, repeat smallint, lane_position smallint'

// A repeated start by the same claim counts once: the first reply of the database may have been lost.
const BEGIN = `
  UPDATE compare_cells AS cell SET status = 'running', claim = run.claim, tries = least(cell.tries + 1, 32000),
    request_id = coalesce(cell.request_id, given.request_id), started_at = now()
  FROM json_to_recordset($4::json) AS given (${KEY_TYPES}, request_id text), compare_runs AS run
  WHERE run.id = $1 AND run.status = 'running' AND run.worker_id = $2 AND run.claim = $3
    AND ${IS_THE_CELL} AND (cell.status = 'pending' OR (cell.status = 'running' AND cell.claim = run.claim))
  RETURNING ${KEY}, cell.request_id`

const END = `
  WITH ended AS (
    UPDATE compare_cells AS cell SET status = given.status, cost_nano_usd = cell.cost_nano_usd + charged,
      request_id = CASE WHEN is_id_spent THEN NULL ELSE cell.request_id END,
      counted_nano_usd = CASE WHEN is_id_spent THEN 0 ELSE cell.counted_nano_usd + charged END,
      output = given.output, reasoning = given.reasoning, tool_calls = given.tool_calls,
      finish_reason = given.finish_reason, usage = given.usage, latency_ms = given.latency_ms, ttft_ms = given.ttft_ms,
      model = given.model, provider = given.provider, error_code = given.error_code, error_message = given.error_message,
      score = given.score, scores = given.scores, completed_at = CASE WHEN given.status = 'pending' THEN NULL ELSE now() END
    FROM json_to_recordset($3::json) AS given (${KEY_TYPES}, status text, charged bigint, is_id_spent boolean, output text,
      reasoning text, tool_calls json, finish_reason text, usage jsonb, latency_ms integer, ttft_ms integer, model text, provider text,
      error_code text, error_message text, score real, scores jsonb)
    WHERE ${IS_THE_CELL} AND cell.status = 'running' AND cell.claim = $2
    RETURNING ${KEY}, cell.lane_id, cell.status, charged, coalesce((cell.usage ->> 'promptTokens')::bigint, 0) AS prompt_tokens,
      coalesce((cell.usage ->> 'completionTokens')::bigint, 0) AS completion_tokens
  ), of_lanes AS (
    SELECT lane_id, count(*) FILTER (WHERE status = 'completed') AS completed,
      count(*) FILTER (WHERE status = 'failed') AS failed, sum(charged) AS charged, sum(prompt_tokens) AS prompt_tokens,
      sum(completion_tokens) AS completion_tokens FROM ended GROUP BY lane_id
  ), lanes AS (
    UPDATE compare_lanes AS lane SET completed = lane.completed + of_lanes.completed, failed = lane.failed + of_lanes.failed,
      cost_nano_usd = lane.cost_nano_usd + charged, prompt_tokens = lane.prompt_tokens + of_lanes.prompt_tokens,
      completion_tokens = lane.completion_tokens + of_lanes.completion_tokens
    FROM of_lanes WHERE lane.id = of_lanes.lane_id
  ), runs AS (
    UPDATE compare_runs SET cells_done = cells_done + of_run.completed, cells_failed = cells_failed + of_run.failed,
      cost_nano_usd = cost_nano_usd + of_run.charged, updated_at = now()
    FROM (SELECT sum(completed) AS completed, sum(failed) AS failed, sum(charged) AS charged FROM of_lanes) AS of_run
    WHERE compare_runs.id = $1 AND of_run.charged IS NOT NULL
  )
  SELECT prompt_index, repeat, lane_position FROM ended`
