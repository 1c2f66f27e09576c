import type { NanoUsd } from '../../../kernel/money.ts'
import type { CellScores } from '../scores/cell-scores.ts'
import type { ScoreOrder } from '../scores/score-order.ts'
import type { Environment } from '../../keys/keys.ts'

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/** Prompts × lanes × repeats, side by side. */
export interface Run {
  readonly id: string
  readonly accountId: string
  readonly projectId: string | null
  readonly keyId: string
  readonly environment: Environment
  /** The labels of its charges; null without any. */
  readonly labels: readonly string[] | null
  readonly name: string
  readonly status: RunStatus
  readonly repeats: number
  /** Whether its cells are lines of batches. */
  readonly isBatch: boolean
  /** Concurrent cells. */
  readonly concurrency: number
  readonly isBlind: boolean
  readonly judge: JudgeSettings | null
  /** Scores of every answer. */
  readonly scores: readonly ScoreOrder[]
  readonly datasetId: string | null
  readonly datasetVersion: string | null
  readonly conversationId: string | null
  /** Determines the order of the lanes for each prompt. */
  readonly seed: number
  /** What the aliases of the lanes of a blind run are made from. Nobody is told. */
  readonly aliasKey: string
  readonly lanes: readonly Lane[]
  readonly promptsTotal: number
  readonly cellsTotal: number
  readonly cellsDone: number
  readonly cellsFailed: number
  readonly budgetNanoUsd: NanoUsd | null
  readonly costNanoUsd: NanoUsd
  readonly estimatedCostNanoUsd: NanoUsd
  /** The judge's part of it. */
  readonly estimatedJudgeNanoUsd: NanoUsd
  readonly estimatedMs: number
  readonly winnerLaneId: string | null
  readonly isPinned: boolean
  /** Why it failed. */
  readonly error: RunError | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}

export interface JudgeSettings {
  readonly model: string
  readonly rubric?: string | null
}

export interface RunError {
  readonly code: string
  readonly message: string
}

export interface Lane {
  readonly id: string
  readonly position: number
  /** As requested. */
  readonly model: string
  readonly name: string
  /** Members of the chat request that is sent for every prompt. */
  readonly params: LaneParams
  /** The listed price of the model when the run was created. */
  readonly price: unknown
  readonly completed: number
  readonly failed: number
  readonly costNanoUsd: NanoUsd
  readonly promptTokens: number
  readonly completionTokens: number
  readonly wins: number
  /** Null until the first cells are done. */
  readonly stats: LaneStats | null
}

/** Members of a lane besides `model`, `name` and `messages`. `system` becomes a system message. */
export type LaneParams = Readonly<Record<string, unknown>>

/** Of the completed cells of a lane. */
export interface LaneStats {
  readonly latencyMsP50: number | null
  readonly latencyMsP95: number | null
  readonly ttftMsP50: number | null
  readonly ttftMsP95: number | null
  readonly outputTokensPerSecond: number | null
  /** The mean score, between 0 and 1. */
  readonly score: number | null
  readonly scored: number
  /** Of the scores of the run, by name. Missing without any. */
  readonly scores?: Readonly<Record<string, { readonly mean: number | null; readonly scored: number }>> | null
  /** Means with their 95 % confidence intervals, for runs that have ended. */
  readonly intervals?: Readonly<Record<Measure, MeasuredMean | null>>
}

export const MEASURES = ['latencyMs', 'ttftMs', 'outputTokensPerSecond', 'costUsd', 'score'] as const
export type Measure = (typeof MEASURES)[number]

export interface MeasuredMean {
  readonly mean: number
  readonly low: number
  readonly high: number
}

export const CELL_STATUSES = ['pending', 'running', 'completed', 'failed'] as const
export type CellStatus = (typeof CELL_STATUSES)[number]

/** One prompt, asked once of one lane. */
export interface Cell {
  readonly runId: string
  readonly promptIndex: number
  readonly repeat: number
  readonly lanePosition: number
  readonly laneId: string
  /** The position of the lane in the order of this prompt and repeat. */
  readonly turn: number
  readonly status: CellStatus
  readonly requestId: string | null
  /** Over all attempts. */
  readonly costNanoUsd: NanoUsd
  readonly output: string | null
  readonly reasoning: string | null
  readonly toolCalls: unknown
  readonly finishReason: string | null
  readonly usage: CellUsage | null
  readonly latencyMs: number | null
  readonly ttftMs: number | null
  /** The catalog's model id and the provider that answered. */
  readonly model: string | null
  readonly provider: string | null
  readonly error: RunError | null
  /** Between 0 and 1, or null without an expectation. */
  readonly score: number | null
  /** Null without any. */
  readonly scores: CellScores | null
  readonly judge: unknown
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}

export interface CellUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens?: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}
