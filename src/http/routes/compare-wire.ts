import { Type, type TSchema } from 'typebox'
import { toTimestamp } from '../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../kernel/money.ts'
import { CELL_STATUSES, RUN_STATUSES, type Cell, type Lane, type Run } from '../../modules/compare/compare.ts'
import { errorTypeOf } from '../error-envelope.ts'

const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])
const Timestamp = Type.String({ format: 'date-time' })
const Uuid = Type.String({ format: 'uuid' })
const ErrorAnswer = Type.Object({ message: Type.String(), type: Type.String(), code: Type.String() })

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
    results: Type.Record(Type.String(), LaneSummary, { description: 'By the id of the lane.' }),
  },
  { title: 'CompareRun' },
)

export function toRunAnswer(run: Run): Record<string, unknown> {
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
    results: Object.fromEntries(run.lanes.map((lane) => [lane.id, summarizeLane(lane)])),
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

export const CellAnswer = Type.Object(
  {
    object: Type.Literal('compare.cell'),
    prompt_index: Type.Integer(),
    repeat: Type.Integer(),
    lane_id: Uuid,
    model: Type.String({ description: 'As the lane asked for it.' }),
    status: Type.Enum([...CELL_STATUSES]),
    turn: Type.Integer({ description: 'Where the lane stood in the order of this prompt and repeat.' }),
    output: orNull(Type.String()),
    reasoning: orNull(Type.String()),
    tool_calls: orNull(Type.Array(Type.Unknown())),
    finish_reason: orNull(Type.String()),
    usage: orNull(
      Type.Object({
        prompt_tokens: Type.Integer(),
        completion_tokens: Type.Integer(),
        total_tokens: Type.Integer(),
        prompt_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
        completion_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
      }),
    ),
    cost_usd: Type.Number({ description: 'Of all tries together.' }),
    latency_ms: orNull(Type.Integer()),
    ttft_ms: orNull(Type.Integer()),
    output_tokens_per_second: orNull(Type.Number()),
    provider: orNull(Type.String()),
    score: orNull(Type.Number()),
    judge: Type.Unknown(),
    error: orNull(ErrorAnswer),
    request_id: orNull(Type.String()),
    started_at: orNull(Timestamp),
    completed_at: orNull(Timestamp),
  },
  { title: 'CompareCell' },
)

export function toCellAnswer(run: Run, cell: Cell): Record<string, unknown> {
  const { usage } = cell
  return {
    object: 'compare.cell',
    prompt_index: cell.promptIndex,
    repeat: cell.repeat,
    lane_id: cell.laneId,
    model: run.lanes.find(({ id }) => id === cell.laneId)?.model ?? '',
    status: cell.status,
    turn: cell.turn,
    output: cell.output,
    reasoning: cell.reasoning,
    tool_calls: cell.toolCalls,
    finish_reason: cell.finishReason,
    usage:
      usage === null
        ? null
        : {
            prompt_tokens: usage.promptTokens,
            completion_tokens: usage.completionTokens,
            total_tokens: usage.promptTokens + usage.completionTokens,
            prompt_tokens_details: { cached_tokens: usage.cachedTokens },
            completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
          },
    cost_usd: usdFromNanoUsd(cell.costNanoUsd),
    latency_ms: cell.latencyMs,
    ttft_ms: cell.ttftMs,
    output_tokens_per_second: outputTokensPerSecond(cell),
    provider: cell.provider,
    score: cell.score,
    judge: cell.judge,
    error: errorAnswer(cell.error),
    request_id: cell.requestId,
    started_at: timestampOf(cell.startedAt),
    completed_at: timestampOf(cell.completedAt),
  }
}

/** What comes all at once, because its provider does not stream, took the whole time. */
export function outputTokensPerSecond({ usage, latencyMs, ttftMs }: Cell): number | null {
  if (usage === null || latencyMs === null) return null
  const streamedMs = latencyMs - (ttftMs ?? latencyMs)
  const outputMs = streamedMs > latencyMs / 10 ? streamedMs : Math.max(latencyMs, 1)
  return Math.round((usage.completionTokens * 100_000) / outputMs) / 100
}

function errorAnswer(error: Run['error']): Record<string, unknown> | null {
  return error === null ? null : { message: error.message, type: errorTypeOf(error.code), code: error.code }
}

export function timestampOf(date: Date | null): string | null {
  return date === null ? null : toTimestamp(date.getTime())
}
