import type { Queryable } from '../../storage/database.ts'

/** What the judge said about two answers, or about one. */
export interface ToldJudgement {
  readonly promptIndex: number
  readonly repeat: number
  /** In the order in which the judge saw them. One lane for a score. */
  readonly laneIds: readonly string[]
  /** Null for a tie, for a score, and for a failure. */
  readonly preferredLaneId: string | null
  readonly score: number | null
  readonly reason: string | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Judgements and characters of a page. The rest is not told. */
const JUDGEMENTS_MAX = 2_000
const REASON_LENGTH_MAX = 1_000

/** Returns what the judge of a run said about the answers to these prompts. */
export async function readJudgements(
  queryable: Queryable,
  runId: string,
  promptIndexes: readonly number[],
): Promise<ToldJudgement[]> {
  const rows = await queryable.query<JudgementRow>(
    `SELECT prompt_index, repeat, first_lane_id, second_lane_id, preferred, score, left(reason, $3) AS reason, error_code, error_message
     FROM compare_judgements WHERE run_id = $1 AND prompt_index = ANY ($2::int[]) AND (completed_at IS NOT NULL OR error_code IS NOT NULL)
     ORDER BY prompt_index, repeat, first_lane_id, second_lane_id LIMIT $4`,
    [runId, promptIndexes, REASON_LENGTH_MAX, JUDGEMENTS_MAX],
  )
  return rows.map(judgementFromRow)
}

interface JudgementRow {
  readonly prompt_index: number
  readonly repeat: number
  readonly first_lane_id: string
  readonly second_lane_id: string
  readonly preferred: 'first' | 'second' | 'tie' | null
  readonly score: number | null
  readonly reason: string | null
  readonly error_code: string | null
  readonly error_message: string | null
}

function judgementFromRow(row: JudgementRow): ToldJudgement {
  const { first_lane_id: first, second_lane_id: second, preferred, error_code: code } = row
  return {
    promptIndex: row.prompt_index,
    repeat: row.repeat,
    laneIds: first === second ? [first] : [first, second],
    preferredLaneId: preferred === 'first' ? first : preferred === 'second' ? second : null,
    score: row.score,
    reason: row.reason,
    error: code === null ? null : { code, message: row.error_message ?? '' },
  }
}
