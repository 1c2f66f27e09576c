import { ENVIRONMENTS, type Environment } from '../../keys/keys.ts'
import { ALIAS_KEY } from '../../judging/judging.ts'
import type { ScoreOrder } from '../scores/score-order.ts'
import type { JudgeSettings, Lane, LaneParams, LaneStats, Run, RunStatus } from './run.ts'

export interface RunRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly key_id: string
  readonly environment: string
  readonly labels: string[] | null
  readonly name: string
  readonly status: RunStatus
  readonly repeats: number
  readonly concurrency: number
  readonly is_batch: boolean | null
  readonly is_blind: boolean
  readonly judge: JudgeSettings | null
  readonly scores: readonly ScoreOrder[] | null
  readonly dataset_id: string | null
  readonly dataset_version: string | null
  readonly conversation_id: string | null
  readonly seed: bigint
  readonly alias_key: string
  readonly prompts_total: number
  readonly cells_total: number
  readonly cells_done: number
  readonly cells_failed: number
  readonly budget_nano_usd: bigint | null
  readonly cost_nano_usd: bigint
  readonly estimated_cost_nano_usd: bigint
  readonly estimated_judge_nano_usd: bigint
  readonly estimated_ms: bigint
  readonly winner_lane_id: string | null
  readonly is_pinned: boolean
  readonly error_code: string | null
  readonly error_message: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly started_at: Date | null
  readonly completed_at: Date | null
}

export const RUN_COLUMNS = `id, account_id, project_id, key_id, environment, labels, name, status, repeats, concurrency, is_batch, is_blind, judge, scores, dataset_id,
  dataset_version, conversation_id, seed, ${ALIAS_KEY} AS alias_key, prompts_total, cells_total, cells_done, cells_failed, budget_nano_usd,
  cost_nano_usd, estimated_cost_nano_usd, estimated_judge_nano_usd, estimated_ms, winner_lane_id, is_pinned, error_code,
  error_message, created_at, updated_at, started_at, completed_at`

export function runFromRow(row: RunRow, lanes: readonly Lane[]): Run {
  return {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    keyId: row.key_id,
    environment: parseEnvironment(row.environment),
    labels: row.labels,
    name: row.name,
    status: row.status,
    repeats: row.repeats,
    concurrency: row.concurrency,
    isBatch: row.is_batch === true,
    isBlind: row.is_blind,
    judge: row.judge,
    scores: row.scores ?? [],
    datasetId: row.dataset_id,
    datasetVersion: row.dataset_version,
    conversationId: row.conversation_id,
    seed: Number(row.seed),
    aliasKey: row.alias_key,
    lanes,
    promptsTotal: row.prompts_total,
    cellsTotal: row.cells_total,
    cellsDone: row.cells_done,
    cellsFailed: row.cells_failed,
    budgetNanoUsd: row.budget_nano_usd,
    costNanoUsd: row.cost_nano_usd,
    estimatedCostNanoUsd: row.estimated_cost_nano_usd,
    estimatedJudgeNanoUsd: row.estimated_judge_nano_usd,
    estimatedMs: Number(row.estimated_ms),
    winnerLaneId: row.winner_lane_id,
    isPinned: row.is_pinned,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
  }
}

export interface LaneRow {
  readonly id: string
  readonly run_id: string
  readonly position: number
  readonly model: string
  readonly name: string
  readonly params: LaneParams
  readonly price: unknown
  readonly completed: number
  readonly failed: number
  readonly cost_nano_usd: bigint
  readonly prompt_tokens: bigint
  readonly completion_tokens: bigint
  readonly wins: number
  readonly stats: LaneStats | null
}

export const LANE_COLUMNS = `id, run_id, position, model, name, params, price, completed, failed, cost_nano_usd, prompt_tokens,
  completion_tokens, wins, stats`

export function laneFromRow(row: LaneRow): Lane {
  return {
    id: row.id,
    position: row.position,
    model: row.model,
    name: row.name,
    params: row.params,
    price: row.price,
    completed: row.completed,
    failed: row.failed,
    costNanoUsd: row.cost_nano_usd,
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    wins: row.wins,
    stats: row.stats,
  }
}

function parseEnvironment(text: string): Environment {
  const environment = ENVIRONMENTS.find((candidate) => candidate === text)
  if (environment === undefined) throw new Error(`a stored run has the unknown environment '${text}'`)
  return environment
}
