import { Type } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { RUN_STATUSES, type Cell, type Lane, type Run } from '../../../modules/compare/compare.ts'
import {
  CellAnswer,
  ErrorAnswer,
  errorAnswer,
  orNull,
  Timestamp,
  timestampOf,
  toCellAnswer,
  Uuid,
} from './compare-cell-wire.ts'

const Percentiles = Type.Object({ p50: orNull(Type.Integer()), p95: orNull(Type.Integer()) })

const MeanAnswer = orNull(
  Type.Object({ mean: Type.Number(), low: Type.Number(), high: Type.Number() }, { title: 'CompareMean' }),
)

const LaneSummary = Type.Object(
  {
    completed: Type.Integer(),
    failed: Type.Integer(),
    cost_usd: Type.Number(),
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    latency_ms: Percentiles,
    ttft_ms: Percentiles,
    output_tokens_per_second: orNull(Type.Number({ description: 'The median.' })),
    score: orNull(Type.Number({ description: 'The mean, between 0 and 1, where something was expected.' })),
    scored: Type.Integer(),
    confidence: orNull(
      Type.Object(
        {
          latency_ms: MeanAnswer,
          ttft_ms: MeanAnswer,
          output_tokens_per_second: MeanAnswer,
          cost_usd: MeanAnswer,
          score: MeanAnswer,
        },
        { description: 'Means of a cell with their 95 % bootstrap intervals, when the run has ended.' },
      ),
    ),
  },
  { title: 'CompareLaneSummary' },
)

const LaneAnswer = Type.Object(
  {
    id: Uuid,
    model: Type.String(),
    name: Type.String(),
    params: Type.Record(Type.String(), Type.Unknown()),
    winner: Type.Boolean(),
    wins: Type.Integer({ description: 'Prompts that it won by vote.' }),
    stats: LaneSummary,
  },
  { title: 'CompareLane' },
)

const LaneResults = Type.Object(
  {
    ...LaneSummary.properties,
    answers: orNull(
      Type.Object(
        {
          data: Type.Array(CellAnswer),
          total: Type.Integer({ description: 'Cells of the lane.' }),
          has_more: Type.Boolean(),
          next_cursor: orNull(Type.String()),
          next: orNull(
            Type.String({ description: 'Where the rest is, relative to the address of the gateway.' }),
          ),
        },
        {
          description:
            'The first answers of the lane, of a run that is read after its end. Null before, in lists, and while lanes must not be told apart.',
        },
      ),
    ),
  },
  { title: 'CompareLaneResults' },
)

export const RunAnswer = Type.Object(
  {
    id: Uuid,
    object: Type.Literal('compare.run'),
    name: Type.String(),
    status: Type.Enum([...RUN_STATUSES]),
    models: Type.Array(Type.String()),
    lanes: Type.Array(LaneAnswer),
    repeats: Type.Integer(),
    concurrency: Type.Integer({ description: 'Cells that are asked at once.' }),
    blind: Type.Boolean(),
    judge: orNull(Type.Object({ model: Type.String(), rubric: Type.Optional(orNull(Type.String())) })),
    seed: Type.Integer({ description: 'Decides the order of the lanes in every prompt.' }),
    dataset_id: orNull(Uuid),
    dataset_version: orNull(Type.String()),
    conversation_id: orNull(Uuid),
    prompts_total: Type.Integer(),
    cells_total: Type.Integer(),
    cells_done: Type.Integer(),
    cells_failed: Type.Integer(),
    progress: Type.Integer({ minimum: 0, maximum: 100 }),
    budget_usd: orNull(Type.Number()),
    cost_usd: Type.Number(),
    estimated_cost_usd: Type.Number({ description: 'Of the whole run, when it was made.' }),
    estimated_duration_seconds: Type.Integer(),
    error: orNull(ErrorAnswer),
    saved: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    started_at: orNull(Timestamp),
    completed_at: orNull(Timestamp),
    winner_lane_id: orNull(Uuid),
    results: Type.Record(Type.String(), LaneResults, { description: 'By the id of the lane.' }),
  },
  { title: 'CompareRun' },
)

/** The first cells of a lane. */
export interface FirstAnswers {
  readonly cells: readonly Cell[]
  readonly total: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** First answers by lane id. */
export type LaneAnswers = ReadonlyMap<string, FirstAnswers>

export function toRunAnswer(run: Run, answers: LaneAnswers = NO_ANSWERS): Record<string, unknown> {
  return {
    id: run.id,
    object: 'compare.run',
    name: run.name,
    status: run.status,
    models: run.lanes.map(({ model }) => model),
    lanes: run.lanes.map((lane) => toLaneAnswer(run, lane)),
    repeats: run.repeats,
    concurrency: run.concurrency,
    blind: run.isBlind,
    judge: run.judge,
    seed: run.seed,
    dataset_id: run.datasetId,
    dataset_version: run.datasetVersion,
    conversation_id: run.conversationId,
    prompts_total: run.promptsTotal,
    cells_total: run.cellsTotal,
    cells_done: run.cellsDone,
    cells_failed: run.cellsFailed,
    progress: Math.floor(((run.cellsDone + run.cellsFailed) * 100) / run.cellsTotal),
    budget_usd: run.budgetNanoUsd === null ? null : usdFromNanoUsd(run.budgetNanoUsd),
    cost_usd: usdFromNanoUsd(run.costNanoUsd),
    estimated_cost_usd: usdFromNanoUsd(run.estimatedCostNanoUsd),
    estimated_duration_seconds: Math.ceil(run.estimatedMs / 1000),
    error: errorAnswer(run.error),
    saved: run.isPinned,
    created_at: timestampOf(run.createdAt),
    updated_at: timestampOf(run.updatedAt),
    started_at: timestampOf(run.startedAt),
    completed_at: timestampOf(run.completedAt),
    winner_lane_id: run.winnerLaneId,
    results: Object.fromEntries(
      run.lanes.map((lane) => [
        lane.id,
        { ...summarizeLane(lane), answers: toAnswers(run, lane.id, answers.get(lane.id)) },
      ]),
    ),
  }
}

const NO_ANSWERS: LaneAnswers = new Map()

function toAnswers(run: Run, laneId: string, found: FirstAnswers | undefined): unknown {
  if (found === undefined) return null
  const { cells, total, hasMore, nextCursor } = found
  const rest = new URLSearchParams({ lane_id: laneId, after: nextCursor ?? '' })
  return {
    data: cells.map((cell) => toCellAnswer(run, cell)),
    total,
    has_more: hasMore,
    next_cursor: nextCursor,
    next: nextCursor === null ? null : `/v1/compare/runs/${run.id}/results?${String(rest)}`,
  }
}

function toLaneAnswer({ winnerLaneId }: Run, lane: Lane): Record<string, unknown> {
  const { id, model, name, params, wins } = lane
  return { id, model, name, params, winner: id === winnerLaneId, wins, stats: summarizeLane(lane) }
}

function summarizeLane(lane: Lane): Record<string, unknown> {
  const { completed, failed, promptTokens, completionTokens, costNanoUsd, stats } = lane
  return {
    completed,
    failed,
    cost_usd: usdFromNanoUsd(costNanoUsd),
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    latency_ms: { p50: stats?.latencyMsP50 ?? null, p95: stats?.latencyMsP95 ?? null },
    ttft_ms: { p50: stats?.ttftMsP50 ?? null, p95: stats?.ttftMsP95 ?? null },
    output_tokens_per_second: stats?.outputTokensPerSecond ?? null,
    score: stats?.score ?? null,
    scored: stats?.scored ?? 0,
    confidence: stats?.intervals === undefined ? null : toConfidence(stats.intervals),
  }
}

function toConfidence(
  intervals: NonNullable<NonNullable<Lane['stats']>['intervals']>,
): Record<string, unknown> {
  const { latencyMs, ttftMs, outputTokensPerSecond: perSecond, costUsd, score } = intervals
  return {
    latency_ms: latencyMs,
    ttft_ms: ttftMs,
    output_tokens_per_second: perSecond,
    cost_usd: costUsd,
    score,
  }
}
