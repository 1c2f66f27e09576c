import { randomUUID } from 'node:crypto'
import { createId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import type { Caller } from '../../keys/keys.ts'
import type { PromptCase } from '../prompt-case.ts'
import type { ScoreOrder } from '../scores/score-order.ts'
import type { JudgeSettings, LaneParams } from './run.ts'
import { createRandom, shuffle } from '../../../kernel/seeded-random.ts'

/** A checked request for a run. */
export interface RunOrder {
  readonly caller: Caller
  /** Where it belongs: where its prompts come from, or the project of the caller. */
  readonly projectId: string | null
  readonly name: string
  readonly prompts: readonly PromptCase[]
  readonly lanes: readonly LaneOrder[]
  readonly repeats: number
  readonly concurrency: number
  /** Whether its cells are lines of batches. */
  readonly isBatch: boolean
  readonly isBlind: boolean
  readonly judge: JudgeSettings | null
  readonly scores: readonly ScoreOrder[]
  readonly datasetId: string | null
  readonly datasetVersion: string | null
  readonly conversationId: string | null
  readonly seed: number
  readonly budgetNanoUsd: NanoUsd | null
}

export interface LaneOrder {
  readonly model: string
  readonly name: string | null
  readonly params: LaneParams
}

export interface PlannedRun extends RunOrder {
  readonly id: string
  readonly nowMs: number
  readonly estimatedCostNanoUsd: NanoUsd
  readonly estimatedJudgeNanoUsd: NanoUsd
  readonly estimatedMs: number
  /** Of each lane. */
  readonly prices: readonly unknown[]
}

/** Inserts the run, its cells and its job in the caller's transaction. */
export async function insertRun(transaction: Queryable, run: PlannedRun): Promise<void> {
  const { id, prompts, lanes, caller } = run
  await transaction.query(INSERT_RUN, [
    id,
    caller.accountId,
    caller.keyId,
    caller.environment,
    run.name,
    run.repeats,
    run.concurrency,
    run.isBlind,
    run.judge === null ? null : JSON.stringify(run.judge),
    run.datasetId,
    run.datasetVersion,
    run.conversationId,
    run.seed,
    lanes.map(({ model }) => model),
    prompts.length,
    prompts.length * lanes.length * run.repeats,
    run.budgetNanoUsd,
    run.estimatedCostNanoUsd,
    Math.round(run.estimatedMs),
    new Date(run.nowMs),
    run.estimatedJudgeNanoUsd,
    run.projectId,
    caller.labels ?? null,
    run.scores.length === 0 ? null : JSON.stringify(run.scores),
    run.isBlind ? randomUUID() : null,
    run.isBatch,
  ])
  await transaction.query(INSERT_LANES, [id, JSON.stringify(nameLanes(run).map(toLaneColumns))])
  await transaction.query(INSERT_PROMPTS, [
    id,
    JSON.stringify(prompts.map((prompt, index) => toPromptColumns(run, prompt, index))),
  ])
  await transaction.query(INSERT_CELLS, [id, run.repeats, lanes.length])
  await addJob(transaction, 'compare')
}

/** A random order of the lanes for each prompt, so that no lane is always asked first. */
export function orderLanes(seed: number, promptIndex: number, laneCount: number): number[] {
  const positions = Array.from({ length: laneCount }, (_, position) => position)
  return shuffle(positions, createRandom(seed, promptIndex))
}

interface NamedLane extends LaneOrder {
  readonly position: number
  readonly shownName: string
  readonly price: unknown
}

/** Numbers lanes of the same model that have no name of their own. */
function nameLanes({ lanes, prices }: PlannedRun): NamedLane[] {
  const seen = new Map<string, number>()
  return lanes.map((lane, position) => {
    const wanted = lane.name ?? lane.model
    const count = (seen.get(wanted) ?? 0) + 1
    seen.set(wanted, count)
    const shownName = count === 1 ? wanted : `${wanted} #${count}`
    return { ...lane, position, shownName, price: prices[position] ?? null }
  })
}

function toLaneColumns({ position, model, shownName, params, price }: NamedLane): object {
  return { id: createId(), position, model, name: shownName, params, price }
}

function toPromptColumns(
  { seed, lanes }: PlannedRun,
  { id, messages, expected }: PromptCase,
  index: number,
): object {
  return {
    prompt_index: index,
    external_id: id,
    messages,
    // Use SQL null, not JSON null.
    ...(expected !== null && { expected }),
    lane_order: orderLanes(seed, index, lanes.length),
  }
}

const INSERT_RUN = `
  INSERT INTO compare_runs (id, account_id, key_id, environment, name, repeats, concurrency, is_blind, judge, dataset_id,
    dataset_version, conversation_id, seed, models, prompts_total, cells_total, budget_nano_usd, estimated_cost_nano_usd,
    estimated_ms, created_at, updated_at, estimated_judge_nano_usd, project_id,
    labels, scores, alias_key, is_batch)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20, $21, $22, $23, $24, $25, $26)`

const INSERT_LANES = `
  INSERT INTO compare_lanes (id, run_id, position, model, name, params, price)
  SELECT id, $1, position, model, name, params, price FROM json_to_recordset($2::json)
    AS lane (id uuid, position smallint, model text, name text, params json, price jsonb)`

const INSERT_PROMPTS = `
  INSERT INTO compare_prompts (run_id, prompt_index, external_id, messages, expected, lane_order)
  SELECT $1, prompt_index, external_id, messages, expected, lane_order FROM json_to_recordset($2::json)
    AS prompt (prompt_index integer, external_id text, messages json, expected json, lane_order smallint[])`

const INSERT_CELLS = `
  INSERT INTO compare_cells (run_id, prompt_index, repeat, lane_position, lane_id, turn)
  SELECT $1, prompt_index, repeat, lane.position, lane.id,
    (array_position(lane_order, lane.position) - 1 + repeat) % $3::int
  FROM compare_prompts AS prompt, generate_series(0, $2::int - 1) AS repeat, compare_lanes AS lane
  WHERE prompt.run_id = $1 AND lane.run_id = $1`
