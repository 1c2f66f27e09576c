import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import {
  CELL_STATUSES,
  EXCERPT_LENGTH_MAX,
  type Cell,
  type PromptExcerpt,
  type Run,
} from '../../../modules/compare/compare.ts'
import type { ToldJudgement } from '../../../modules/judging/judging.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { errorTypeOf } from '../../answers/error-envelope.ts'

export const Timestamp = Type.String({ format: 'date-time' })
export const Uuid = Type.String({ format: 'uuid' })
export const ErrorAnswer = Type.Object({
  message: Type.String({ description: 'What went wrong, in words.' }),
  type: Type.String({ description: 'The class of the error.' }),
  code: Type.String({ description: 'The code of the error, for programs.' }),
})

export const CellAnswer = Type.Object(
  {
    object: objectName('compare.cell'),
    prompt_index: Type.Integer({ description: 'The position of the prompt, from 0.' }),
    repeat: Type.Integer({ description: 'Which of the repeats it is, from 0.' }),
    lane_id: described(Uuid, 'The id of the lane.'),
    model: Type.String({ description: 'As the lane asked for it.' }),
    status: Type.Enum([...CELL_STATUSES], { description: 'The state it is in.' }),
    turn: Type.Integer({ description: 'Where the lane stood in the order of this prompt and repeat.' }),
    output: orNull(Type.String(), 'The text of the answer.'),
    reasoning: orNull(Type.String(), 'The reasoning before the answer.'),
    tool_calls: orNull(Type.Array(Type.Unknown()), 'The calls of tools that the model asks for.'),
    finish_reason: orNull(
      Type.String(),
      'Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter`.',
    ),
    usage: orNull(
      Type.Object({
        prompt_tokens: Type.Integer({ description: 'Tokens of the input.' }),
        completion_tokens: Type.Integer({
          description: 'Tokens of the output, with those of the reasoning.',
        }),
        total_tokens: Type.Integer({ description: 'Tokens of input and output together.' }),
        prompt_tokens_details: Type.Object(
          {
            cached_tokens: Type.Integer({
              description:
                "Input tokens that the upstream read from its cache, at the model's price for those.",
            }),
            cache_write_tokens: Type.Optional(
              Type.Integer({
                description:
                  "Input tokens that the upstream wrote to its cache, at the model's price for those.",
              }),
            ),
          },
          { description: 'What the input tokens were.' },
        ),
        completion_tokens_details: Type.Object(
          { reasoning_tokens: Type.Integer({ description: 'Output tokens of the reasoning.' }) },
          { description: 'What the output tokens were.' },
        ),
      }),
      'What was used, and what it cost.',
    ),
    cost_usd: Type.Number({ description: 'Of all tries together.' }),
    latency_ms: orNull(Type.Integer(), 'Milliseconds until the answer was complete.'),
    ttft_ms: orNull(Type.Integer(), 'Milliseconds until the first token.'),
    output_tokens_per_second: orNull(Type.Number(), 'Output tokens a second, after the first one.'),
    provider: orNull(Type.String(), 'The upstream that served it.'),
    score: orNull(Type.Number(), 'How well the answer fits what was expected, from 0 to 1.'),
    scores: orNull(
      Type.Record(
        Type.String(),
        Type.Object({
          score: orNull(Type.Number(), 'From 0 to 1. `null`: it could not be decided.'),
          reason: orNull(Type.String(), 'Why: of a webhook, or why nothing could be decided.'),
        }),
      ),
      'The scores of the run, by name. `null` without any, and while the lanes must not be told apart.',
    ),
    judge: Type.Unknown({ description: 'What the judge said. `null` without a judge.' }),
    error: orNull(ErrorAnswer, 'Why it failed. `null` when it did not.'),
    request_id: orNull(Type.String(), 'The id of the request. The log of the gateway knows it by this.'),
    started_at: orNull(Timestamp, 'When work on it began. `null` until then.'),
    completed_at: orNull(Timestamp, 'When it ended. `null` until then.'),
  },
  { title: 'CompareCell' },
)

export const PromptAnswer = Type.Object(
  {
    prompt_index: Type.Integer({ description: 'The position of the prompt, from 0.' }),
    id: orNull(Type.String({ description: 'Your own id of the prompt.' })),
    text: Type.String({
      description: `The last message of the user, up to ${EXCERPT_LENGTH_MAX} characters. An export has all messages.`,
    }),
    is_cut: Type.Boolean({ description: 'Whether the message is longer than `text`.' }),
    judgements: Type.Array(
      Type.Object({
        repeat: Type.Integer({ description: 'Which of the repeats it is, from 0.' }),
        lane_ids: Type.Array(Uuid, {
          description:
            'The lanes whose answers it compared, in the order in which it saw them, or the one that it scored.',
        }),
        preferred_lane_id: orNull(Uuid, 'The better one. `null`: a tie, a score, or a failure.'),
        score: orNull(Type.Number(), 'How well the answer fits what was expected, from 0 to 1.'),
        reason: orNull(Type.String(), 'Why, in its words: up to 1,000 characters.'),
        error: orNull(ErrorAnswer, 'Why it failed. `null` when it did not.'),
      }),
      {
        description:
          'What the judge said about the answers to it, up to 2,000 judgements a page. Empty while the lanes must not be told apart.',
      },
    ),
  },
  { title: 'ComparePrompt' },
)

export function toPromptAnswer(
  { promptIndex, id, text, isCut }: PromptExcerpt,
  judgements: readonly ToldJudgement[],
): Record<string, unknown> {
  return {
    prompt_index: promptIndex,
    id,
    text,
    is_cut: isCut,
    judgements: judgements.map(({ repeat, laneIds, preferredLaneId, score, reason, error }) => ({
      repeat,
      lane_ids: laneIds,
      preferred_lane_id: preferredLaneId,
      score,
      reason,
      error: errorAnswer(error),
    })),
  }
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
    scores: cell.scores,
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
