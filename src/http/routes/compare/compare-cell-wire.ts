import { Type, type TSchema } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import {
  CELL_STATUSES,
  EXCERPT_LENGTH_MAX,
  type Cell,
  type PromptExcerpt,
  type Run,
} from '../../../modules/compare/compare.ts'
import { errorTypeOf } from '../../answers/error-envelope.ts'

export const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])
export const Timestamp = Type.String({ format: 'date-time' })
export const Uuid = Type.String({ format: 'uuid' })
export const ErrorAnswer = Type.Object({ message: Type.String(), type: Type.String(), code: Type.String() })

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
        prompt_tokens_details: Type.Object({
          cached_tokens: Type.Integer(),
          cache_write_tokens: Type.Optional(Type.Integer()),
        }),
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

export const PromptAnswer = Type.Object(
  {
    prompt_index: Type.Integer(),
    id: orNull(Type.String({ description: 'Your own id of the prompt.' })),
    text: Type.String({
      description: `The last message of the user, up to ${EXCERPT_LENGTH_MAX} characters. An export has all messages.`,
    }),
    is_cut: Type.Boolean({ description: 'Whether the message is longer than `text`.' }),
  },
  { title: 'ComparePrompt' },
)

export function toPromptAnswer({ promptIndex, id, text, isCut }: PromptExcerpt): Record<string, unknown> {
  return { prompt_index: promptIndex, id, text, is_cut: isCut }
}

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
            prompt_tokens_details: {
              cached_tokens: usage.cachedTokens,
              cache_write_tokens: usage.cacheWriteTokens ?? 0,
            },
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

/**
 * Returns the output speed. If the answer came in one piece, or within the last tenth of the latency, the whole latency counts as
 * output time.
 */
export function outputTokensPerSecond({ usage, latencyMs, ttftMs }: Cell): number | null {
  if (usage === null || latencyMs === null) return null
  const streamedMs = latencyMs - (ttftMs ?? latencyMs)
  const outputMs = streamedMs > latencyMs / 10 ? streamedMs : Math.max(latencyMs, 1)
  return Math.round((usage.completionTokens * 100_000) / outputMs) / 100
}

export function errorAnswer(error: Run['error']): Record<string, unknown> | null {
  return error === null ? null : { message: error.message, type: errorTypeOf(error.code), code: error.code }
}

export function timestampOf(date: Date | null): string | null {
  return date === null ? null : toTimestamp(date.getTime())
}
