import type { Queryable } from '../../../storage/database.ts'
import type { PromptCase } from '../prompt-case.ts'
import type { Run } from '../runs/run.ts'

export const FAILURE_KINDS = ['failed', 'low_score', 'lost'] as const
type FailureKind = (typeof FAILURE_KINDS)[number]

/** Which prompts of a run to choose: those with an answer that is one of these failures. */
export interface FailureChoice {
  readonly kinds: readonly FailureKind[]
  /** Only answers of this lane count. Null: those of any lane. */
  readonly laneId: string | null
  /** The name of the score that is compared with `below`. Null: the score of the answer. */
  readonly scoreName: string | null
  readonly below: number
}

/** Returns the prompts in the order of the run. */
export function chooseFailures(
  queryable: Queryable,
  { id }: Pick<Run, 'id'>,
  { kinds, laneId, scoreName, below }: FailureChoice,
): Promise<PromptCase[]> {
  return queryable.query<PromptCase>(CHOOSE, [id, kinds, laneId, scoreName, below])
}

/** Returns all prompts of a run. */
export function readRunPrompts(queryable: Queryable, { id }: Pick<Run, 'id'>): Promise<PromptCase[]> {
  return queryable.query<PromptCase>(
    `SELECT ${COLUMNS} FROM compare_prompts WHERE run_id = $1 ORDER BY prompt_index`,
    [id],
  )
}

const COLUMNS = 'external_id AS id, messages, expected'

// A lane has lost where another one was voted the winner, has the better score, or was preferred by the judge.
const CHOOSE = `
  SELECT ${COLUMNS} FROM compare_prompts WHERE run_id = $1 AND prompt_index IN (
    SELECT prompt_index FROM compare_cells AS cell WHERE run_id = $1 AND ($3::uuid IS NULL OR lane_id = $3) AND (
      'failed' = ANY ($2::text[]) AND status = 'failed'
      OR 'low_score' = ANY ($2) AND status = 'completed'
        AND CASE WHEN $4::text IS NULL THEN score ELSE (scores -> $4 ->> 'score')::float8 END < $5::float8
      OR 'lost' = ANY ($2) AND $3 IS NOT NULL AND (
        (judge ->> 'losses')::int > (judge ->> 'wins')::int
        OR EXISTS (
          SELECT FROM compare_cells AS other WHERE other.run_id = $1 AND other.prompt_index = cell.prompt_index
            AND other.repeat = cell.repeat AND other.score > cell.score)
        OR prompt_index IN (
          SELECT vote.prompt_index FROM compare_votes AS vote WHERE vote.run_id = $1 AND source = 'human'
            AND vote.prompt_index IS NOT NULL AND winner_lane_id <> $3))))
  ORDER BY prompt_index`
