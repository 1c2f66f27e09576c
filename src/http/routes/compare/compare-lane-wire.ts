import { Type } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Cell, Lane, Run } from '../../../modules/compare/compare.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CostUsd, ModelId, UuidId } from '../../../wires/usual-members.ts'
import { CellAnswer, toCellAnswer } from './compare-cell-wire.ts'

const Percentiles = Type.Object({
  p50: orNull(Type.Integer(), 'The median.'),
  p95: orNull(Type.Integer(), 'The 95th percentile.'),
})

export const MeanAnswer = orNull(
  Type.Object(
    {
      mean: Type.Number({ description: 'The mean.' }),
      low: Type.Number({ description: 'The lower end of the 95 % interval.' }),
      high: Type.Number({ description: 'The upper end of the 95 % interval.' }),
    },
    { title: 'CompareMean' },
  ),
)

const LaneSummary = Type.Object(
  {
    completed: Type.Integer({ description: 'How many answers are complete.' }),
    failed: Type.Integer({ description: 'How many failed.' }),
    cost_usd: CostUsd,
    prompt_tokens: Type.Integer({ description: 'Tokens of the input.' }),
    completion_tokens: Type.Integer({ description: 'Tokens of the output, with those of the reasoning.' }),
    total_tokens: Type.Integer({ description: 'Tokens of input and output together.' }),
    latency_ms: described(Percentiles, 'Milliseconds until the answer was complete.'),
    ttft_ms: described(Percentiles, 'Milliseconds until the first token.'),
    output_tokens_per_second: orNull(Type.Number({ description: 'The median.' })),
    score: orNull(Type.Number({ description: 'The mean, between 0 and 1, where something was expected.' })),
    scored: Type.Integer({ description: 'How many answers have a score.' }),
    scores: Type.Record(
      Type.String(),
      Type.Object({
        mean: orNull(Type.Number(), 'The mean, between 0 and 1. `null`: no answer has it.'),
        scored: Type.Integer({ description: 'How many answers have it.' }),
      }),
      { description: 'The scores of the run, by name.' },
    ),
    confidence: orNull(
      Type.Object(
        {
          latency_ms: described(MeanAnswer, 'Milliseconds until the answer was complete.'),
          ttft_ms: described(MeanAnswer, 'Milliseconds until the first token.'),
          output_tokens_per_second: described(MeanAnswer, 'Output tokens a second, after the first one.'),
          cost_usd: described(MeanAnswer, 'What it cost, in US dollars.'),
          score: described(MeanAnswer, 'How well the answer fits what was expected, from 0 to 1.'),
        },
        { description: 'Means of a cell with their 95 % bootstrap intervals, when the run has ended.' },
      ),
    ),
  },
  { title: 'CompareLaneSummary' },
)

export const LaneAnswer = Type.Object(
  {
    id: UuidId,
    model: ModelId,
    name: Type.String({ description: 'The name of the lane.' }),
    params: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The parameters that the lane sends with each request.',
    }),
    winner: Type.Boolean({ description: 'Whether this lane was voted the best.' }),
    wins: Type.Integer({
      description: 'Votes on prompts that it won. While lanes must not be told apart, only your own.',
    }),
    stats: described(LaneSummary, 'What the answers of the lane come to.'),
  },
  { title: 'CompareLane' },
)

export const LaneResults = Type.Object(
  {
    ...LaneSummary.properties,
    answers: orNull(
      Type.Object(
        {
          data: Type.Array(CellAnswer, {
            description: 'The answers of this page, in order.',
          }),
          total: Type.Integer({ description: 'Cells of the lane.' }),
          has_more: Type.Boolean({
            description: 'Whether there is a further page. Its cursor is `next_cursor`.',
          }),
          next_cursor: orNull(
            Type.String(),
            'Send it as `after` to get the next page. `null` on the last one.',
          ),
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

/** The first cells of a lane. */
export interface FirstAnswers {
  readonly cells: readonly Cell[]
  readonly total: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** First answers by lane id. */
export type LaneAnswers = ReadonlyMap<string, FirstAnswers>

export function toAnswers(run: Run, laneId: string, found: FirstAnswers | undefined): unknown {
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

export function toLaneAnswer(lane: Lane, winnerLaneId: string | null): Record<string, unknown> {
  const { id, model, name, params, wins } = lane
  return { id, model, name, params, winner: id === winnerLaneId, wins, stats: summarizeLane(lane) }
}

export function summarizeLane(lane: Lane): Record<string, unknown> {
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
    scores: stats?.scores ?? {},
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
