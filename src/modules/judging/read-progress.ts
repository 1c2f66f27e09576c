import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { choosePairs } from './choose-pairs.ts'

/** How far the judge of a run is. */
export interface JudgingProgress {
  /** `incomplete`: the run has ended, and some questions have no readable answer. `failed`: none has one. */
  readonly status: 'waiting' | 'running' | 'completed' | 'incomplete' | 'failed'
  /** Questions to the judge: each pair of answers in both orders, and each answer that it scores. */
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly costNanoUsd: NanoUsd
  /** The first failure. */
  readonly error: { readonly code: string; readonly message: string } | null
}

/** A run that may have a judge. */
export interface ProgressedRun {
  readonly id: string
  readonly judge: unknown
  readonly repeats: number
  readonly promptsTotal: number
  readonly cellsTotal: number
  readonly cellsDone: number
  readonly cellsFailed: number
  readonly lanes: readonly unknown[]
  readonly completedAt: Date | null
}

/** Null for a run without a judge. */
export async function readProgress(
  queryable: Queryable,
  run: ProgressedRun,
): Promise<JudgingProgress | null> {
  if (run.judge === null) return null
  const [row] = await queryable.query<TallyRow>(TALLY, [run.id])
  const { done = 0, failed = 0, cost = 0n, criteria = 0, error_code: code = null } = row ?? {}
  const total = Math.max(done + failed, await countQuestions(queryable, run, criteria))
  return {
    status: statusOf(run, { total, done, failed }),
    total,
    done,
    failed,
    costNanoUsd: cost,
    error: code === null ? null : { code, message: row?.error_message ?? '' },
  }
}

interface TallyRow {
  readonly done: number
  readonly failed: number
  readonly cost: bigint
  /** Prompts whose answers the judge scores. */
  readonly criteria: number
  readonly error_code: string | null
  readonly error_message: string | null
}

const TALLY = `
  SELECT count(*) FILTER (WHERE completed_at IS NOT NULL AND error_code IS NULL)::int AS done,
    count(*) FILTER (WHERE error_code IS NOT NULL)::int AS failed, coalesce(sum(cost_nano_usd), 0)::bigint AS cost,
    (array_agg(error_code ORDER BY created_at) FILTER (WHERE error_code IS NOT NULL))[1] AS error_code,
    (array_agg(error_message ORDER BY created_at) FILTER (WHERE error_code IS NOT NULL))[1] AS error_message,
    (SELECT count(*)::int FROM compare_prompts WHERE run_id = $1 AND expected ->> 'type' = 'judge') AS criteria
  FROM compare_judgements WHERE run_id = $1`

function statusOf(
  { cellsDone, cellsFailed, cellsTotal, completedAt }: ProgressedRun,
  { total, done, failed }: Pick<JudgingProgress, 'total' | 'done' | 'failed'>,
): JudgingProgress['status'] {
  if (completedAt === null) return cellsDone + cellsFailed < cellsTotal ? 'waiting' : 'running'
  if (done === 0 && failed > 0) return 'failed'
  return done < total ? 'incomplete' : 'completed'
}

const ORDERS = 2

/** Only answers are compared, so each failed cell leaves fewer questions. */
async function countQuestions(
  queryable: Queryable,
  { id, lanes, repeats, promptsTotal, cellsFailed }: ProgressedRun,
  criteria: number,
): Promise<number> {
  const whole = ORDERS * countPairs(lanes.length) * promptsTotal * repeats + criteria * lanes.length * repeats
  if (cellsFailed === 0) return whole
  const rows = await queryable.query<{ answers: number; prompts: number; criteria: number }>(COUNT_ANSWERS, [
    id,
  ])
  return rows.reduce(
    (sum, row) => sum + ORDERS * countPairs(row.answers) * row.prompts + row.criteria * row.answers,
    0,
  )
}

const COUNT_ANSWERS = `
  SELECT answers, count(*)::int AS prompts, count(*) FILTER (WHERE is_scored)::int AS criteria FROM (
    SELECT count(*) FILTER (WHERE cell.status <> 'failed')::int AS answers,
      coalesce(bool_or(prompt.expected ->> 'type' = 'judge'), false) AS is_scored
    FROM compare_cells AS cell JOIN compare_prompts AS prompt USING (run_id, prompt_index)
    WHERE run_id = $1 GROUP BY prompt_index, repeat
  ) AS asked GROUP BY answers`

/** Exact for up to four lanes, and about right for a circle of more that has gaps. */
function countPairs(lanes: number): number {
  const names = Array.from({ length: lanes }, (_, position) => String(position))
  return lanes < 2 ? 0 : choosePairs(names, { seed: 0, promptIndex: 0, repeat: 0 }).length
}
