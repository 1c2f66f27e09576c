import { isRecord } from '../../kernel/is-record.ts'
import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import { toStorableJson } from '../../kernel/storable-text.ts'
import type { Queryable } from '../../storage/database.ts'
import { CHARACTERS_MAX } from './judge-question.ts'

/** The answers to one prompt in one repeat that a judge has not finished. */
export interface UnjudgedPrompt {
  readonly promptIndex: number
  readonly repeat: number
  readonly messages: readonly ChatMessage[]
  /** The criterion by which a judge scores each answer. Null if the prompt has none. */
  readonly criterion: string | null
  /** By lane id. Only lanes that have answered. */
  readonly outputs: ReadonlyMap<string, string>
}

/** The judge's opinion of one answer. */
export interface CellOpinion {
  wins: number
  losses: number
  ties: number
  /** Pairs whose winner changed with the order. */
  inconsistent: number
  failed: number
  score?: number | null
  reason?: string | null
}

const PROMPTS_AT_ONCE = 20

interface UnjudgedRow {
  readonly prompt_index: number
  readonly repeat: number
  readonly lane_ids: readonly string[]
  readonly outputs: readonly string[]
  readonly messages: readonly ChatMessage[]
  readonly expected: unknown
}

/** Returns the next unjudged prompts, ordered by prompt and repeat. */
export async function readUnjudged(
  queryable: Queryable,
  runId: string,
  after: readonly [promptIndex: number, repeat: number],
): Promise<UnjudgedPrompt[]> {
  const rows = await queryable.query<UnjudgedRow>(
    `SELECT answered.*, prompt.messages, prompt.expected FROM (
       SELECT prompt_index, repeat, array_agg(lane_id ORDER BY lane_position) AS lane_ids,
         array_agg(left(coalesce(output, ''), ${CHARACTERS_MAX}) ORDER BY lane_position) AS outputs
       FROM compare_cells AS cell
       WHERE run_id = $1 AND status = 'completed' AND (prompt_index, repeat) > ($2, $3) AND NOT EXISTS (
         SELECT FROM compare_judged AS judged WHERE judged.run_id = cell.run_id
           AND judged.prompt_index = cell.prompt_index AND judged.repeat = cell.repeat)
       GROUP BY prompt_index, repeat ORDER BY prompt_index, repeat LIMIT $4
     ) AS answered JOIN compare_prompts AS prompt ON prompt.run_id = $1 AND prompt.prompt_index = answered.prompt_index
     ORDER BY answered.prompt_index, repeat`,
    [runId, ...after, PROMPTS_AT_ONCE],
  )
  return rows.map((row) => ({
    promptIndex: row.prompt_index,
    repeat: row.repeat,
    messages: row.messages,
    criterion: criterionOf(row.expected),
    outputs: new Map(row.lane_ids.map((laneId, index) => [laneId, row.outputs[index] ?? ''])),
  }))
}

/** Returns the criterion for a judge. Null if the expectation is of another type. */
export function criterionOf(expected: unknown): string | null {
  if (!isRecord(expected) || expected['type'] !== 'judge') return null
  return typeof expected['value'] === 'string' ? expected['value'] : null
}

export async function writeCellJudge(
  queryable: Queryable,
  runId: string,
  { promptIndex, repeat }: UnjudgedPrompt,
  opinions: ReadonlyMap<string, CellOpinion>,
): Promise<void> {
  const rows = [...opinions].map(([laneId, { score, ...opinion }]) => ({
    lane_id: laneId,
    score: score ?? null,
    judge: { ...opinion, ...(score !== undefined && { score }) },
  }))
  await queryable.query(
    `UPDATE compare_cells AS cell SET judge = given.judge, score = coalesce(given.score, cell.score)
     FROM jsonb_to_recordset($4) AS given (lane_id uuid, score real, judge jsonb)
     WHERE cell.run_id = $1 AND cell.prompt_index = $2 AND cell.repeat = $3 AND cell.lane_id = given.lane_id`,
    [runId, promptIndex, repeat, toStorableJson(rows)],
  )
}

export async function markJudged(
  queryable: Queryable,
  runId: string,
  { promptIndex, repeat }: UnjudgedPrompt,
): Promise<void> {
  await queryable.query(
    'INSERT INTO compare_judged (run_id, prompt_index, repeat) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [runId, promptIndex, repeat],
  )
}
