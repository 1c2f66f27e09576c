import type { NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Preference } from './judge-question.ts'

/** One question to the judge. A question about a single answer has the same lane twice. */
export interface JudgementKey {
  readonly runId: string
  readonly promptIndex: number
  readonly repeat: number
  readonly firstLaneId: string
  readonly secondLaneId: string
}

export interface Judgement extends Said {
  readonly requestId: string
  /** Whether it was asked under this id before. The ledger has what was charged then. */
  readonly wasAsked: boolean
  /** The part of the charges under this id that its cost already includes. */
  readonly countedNanoUsd: NanoUsd
  readonly isDone: boolean
}

interface JudgementRow {
  readonly request_id: string
  readonly counted_nano_usd: bigint
  readonly is_done: boolean
  readonly preferred: Preference | null
  readonly score: number | null
  readonly reason: string | null
}

/**
 * Stores the question before the judge is asked. A question that failed temporarily keeps its request id, because an answer that
 * was lost may have been charged under it. It gets a new id if the charge was for an unusable answer.
 */
export async function beginJudgement(
  queryable: Queryable,
  key: JudgementKey,
  requestId: string,
): Promise<Judgement> {
  const [row] = await queryable.query<JudgementRow>(BEGIN, [...valuesOf(key), requestId])
  if (row === undefined) throw new Error('a judgement could not be begun')
  return {
    requestId: row.request_id,
    wasAsked: row.request_id !== requestId,
    countedNanoUsd: row.counted_nano_usd,
    isDone: row.is_done,
    preferred: row.preferred,
    score: row.score,
    reason: row.reason,
  }
}

// A judgement with an error but without `completed_at` keeps its id.
const IS_SPENT = '(judgement.error_code IS NOT NULL AND judgement.completed_at IS NOT NULL)'
const BEGIN = `
  INSERT INTO compare_judgements AS judgement (run_id, prompt_index, repeat, first_lane_id, second_lane_id, request_id,
    created_at) VALUES ($1, $2, $3, $4, $5, $6, now())
  ON CONFLICT (run_id, prompt_index, repeat, first_lane_id, second_lane_id) DO UPDATE SET
    request_id = CASE WHEN ${IS_SPENT} THEN excluded.request_id ELSE judgement.request_id END,
    counted_nano_usd = CASE WHEN ${IS_SPENT} THEN 0 ELSE judgement.counted_nano_usd END,
    completed_at = CASE WHEN NOT ${IS_SPENT} THEN judgement.completed_at END,
    error_code = NULL, error_message = NULL
  RETURNING request_id, counted_nano_usd, completed_at IS NOT NULL AS is_done, preferred, score, reason`

export interface JudgementEnd {
  /** The charge that is not counted yet. */
  readonly chargedNanoUsd: NanoUsd
  /** Null if the judge gave no usable answer; `error` has the reason. */
  readonly said: Said | null
  readonly error: { readonly code: string; readonly message: string } | null
  /** The failure is temporary. The question is asked again under the same id. */
  readonly isIdKept?: boolean
}

/** A preference between two answers, or the score of one. */
export interface Said {
  readonly preferred: Preference | null
  readonly score: number | null
  readonly reason: string | null
}

/** Stores the result and adds its cost to the run once. Returns false if it was already stored. */
export function endJudgement(
  database: Database,
  key: JudgementKey,
  { said, error, chargedNanoUsd, isIdKept = false }: JudgementEnd,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    // Lock the run before its judgements, as all writers do.
    await transaction.query('SELECT FROM compare_runs WHERE id = $1 FOR UPDATE', [key.runId])
    const rows = await transaction.query(
      `UPDATE compare_judgements SET preferred = $6, score = $7, reason = $8, cost_nano_usd = cost_nano_usd + $9,
         counted_nano_usd = counted_nano_usd + $9, error_code = $10, error_message = $11,
         completed_at = CASE WHEN $12 THEN NULL ELSE now() END
       WHERE ${IS_THE_JUDGEMENT} AND completed_at IS NULL RETURNING run_id`,
      [
        ...valuesOf(key),
        said?.preferred ?? null,
        said?.score ?? null,
        said?.reason ?? null,
        chargedNanoUsd,
        error?.code ?? null,
        error?.message ?? null,
        isIdKept,
      ],
    )
    if (rows.length === 0) return false
    await transaction.query(
      'UPDATE compare_runs SET cost_nano_usd = cost_nano_usd + $2, updated_at = now() WHERE id = $1',
      [key.runId, chargedNanoUsd],
    )
    return true
  })
}

const IS_THE_JUDGEMENT = `run_id = $1 AND prompt_index = $2 AND repeat = $3 AND first_lane_id = $4 AND second_lane_id = $5`

function valuesOf({ runId, promptIndex, repeat, firstLaneId, secondLaneId }: JudgementKey): unknown[] {
  return [runId, promptIndex, repeat, firstLaneId, secondLaneId]
}
