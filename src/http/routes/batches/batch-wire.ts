import { Type, type Static } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { BATCH_STATUSES, type Batch } from '../../../modules/batches/batches.ts'
import { namedValues } from '../../../wires/named-values.ts'
import { orNull } from '../../../wires/nullable.ts'
import { batchIdOf } from '../../../wires/openai-files/batch-id.ts'
import { fileIdOf } from '../../../wires/openai-files/file-id.ts'
import { CostUsd, Id, objectName } from '../../../wires/usual-members.ts'

const time = (description: string) => orNull(Type.Integer(), `${description}, in seconds since 1970.`)
const count = (description: string) => Type.Integer({ description })

export const Metadata = namedValues(Type.String({ maxLength: 512 }), {
  count: 16,
  length: 64,
  description: 'Comes back with the batch.',
})

const LineError = Type.Object({
  code: Type.String({ description: 'What kind of mistake it is.' }),
  message: Type.String({ description: 'The mistake, in a sentence.' }),
  param: orNull(Type.String(), 'The wrong member of the line.'),
  line: orNull(Type.Integer(), 'The line of the file, from 1. Null for the whole file.'),
})

export const RequestCounts = Type.Object(
  {
    total: count('All lines.'),
    completed: count('Lines with an answer.'),
    failed: count('Lines with an error.'),
  },
  { description: 'How many lines there are.' },
)

export const BatchAnswer = Type.Object(
  {
    id: Id,
    object: objectName('batch'),
    endpoint: Type.String({ description: 'What each line asks.' }),
    model: orNull(Type.String(), 'The model of the lines. Null before it is known, and for several.'),
    errors: orNull(
      Type.Object({
        object: objectName('list'),
        data: Type.Array(LineError, { description: 'Up to 1,000 of them.' }),
      }),
      'Why the batch failed before anything was asked.',
    ),
    input_file_id: Type.String({ description: 'The file with the lines.' }),
    completion_window: Type.String({ description: 'How long the batch may take.' }),
    status: Type.Enum([...BATCH_STATUSES], { description: 'How far it is.' }),
    output_file_id: orNull(Type.String(), 'The file with the answers.'),
    error_file_id: orNull(Type.String(), 'The file with the lines that have no answer.'),
    created_at: count('When it was made, in seconds since 1970.'),
    in_progress_at: time('When its lines were first asked'),
    expires_at: time('When it expires'),
    finalizing_at: time('When its files were begun'),
    completed_at: time('When it was completed'),
    failed_at: time('When it failed'),
    expired_at: time('When it expired'),
    cancelling_at: time('When somebody cancelled it'),
    cancelled_at: time('When it was cancelled'),
    request_counts: RequestCounts,
    usage: Type.Object(
      {
        input_tokens: count('Tokens of the prompts.'),
        input_tokens_details: Type.Object(
          { cached_tokens: count('Those of them that were cached.') },
          { description: 'Parts of the prompts.' },
        ),
        output_tokens: count('Tokens of the answers.'),
        output_tokens_details: Type.Object(
          { reasoning_tokens: count('Those of them that were reasoning.') },
          { description: 'Parts of the answers.' },
        ),
        total_tokens: count('Both.'),
      },
      { description: 'What the answers used.' },
    ),
    metadata: orNull(Metadata, 'What the client sent with it.'),
    cost_usd: CostUsd,
    estimated_cost_usd: Type.Number({
      description: 'About what all lines may cost: their prompts, and the output that they allow.',
    }),
    expected_cost_usd: Type.Number({
      description: 'What all lines cost if the others cost as much as those that have ended.',
    }),
    lines_per_second: orNull(
      Type.Number(),
      'How many lines ended in a second, on average. Null before any did.',
    ),
    seconds_left: orNull(
      Type.Integer(),
      'About how long it takes until all lines have ended. Null unless it runs.',
    ),
  },
  { title: 'Batch' },
)

export function batchToWire(batch: Batch): Static<typeof BatchAnswer> {
  const { usage } = batch
  return {
    id: batchIdOf(batch.id),
    object: 'batch',
    endpoint: batch.endpoint,
    model: batch.model,
    errors: batch.errors === null ? null : { object: 'list', data: [...batch.errors] },
    input_file_id: fileIdOf(batch.inputFileId),
    completion_window: '24h',
    status: batch.status,
    output_file_id: batch.outputFileId === null ? null : fileIdOf(batch.outputFileId),
    error_file_id: batch.errorFileId === null ? null : fileIdOf(batch.errorFileId),
    created_at: Math.floor(batch.createdAtMs / 1000),
    in_progress_at: secondsOf(batch.inProgressAtMs),
    expires_at: secondsOf(batch.expiresAtMs),
    finalizing_at: secondsOf(batch.finalizingAtMs),
    completed_at: secondsOf(batch.completedAtMs),
    failed_at: secondsOf(batch.failedAtMs),
    expired_at: secondsOf(batch.expiredAtMs),
    cancelling_at: secondsOf(batch.cancellingAtMs),
    cancelled_at: secondsOf(batch.cancelledAtMs),
    request_counts: requestCountsOf(batch),
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cachedTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
    metadata: batch.metadata,
    cost_usd: usdFromNanoUsd(batch.costNanoUsd),
    estimated_cost_usd: usdFromNanoUsd(batch.estimatedNanoUsd),
    ...progressOf(batch),
  }
}

export function requestCountsOf(batch: Batch): Static<typeof RequestCounts> {
  return { total: batch.linesTotal, completed: batch.linesCompleted, failed: batch.linesFailed }
}

function progressOf(
  batch: Batch,
): Pick<Static<typeof BatchAnswer>, 'expected_cost_usd' | 'lines_per_second' | 'seconds_left'> {
  const { linesTotal, costNanoUsd, estimatedNanoUsd, runningSeconds, status } = batch
  const ended = batch.linesCompleted + batch.linesFailed
  if (ended === 0 || runningSeconds === null)
    return {
      expected_cost_usd: usdFromNanoUsd(estimatedNanoUsd),
      lines_per_second: null,
      seconds_left: null,
    }
  const linesPerSecond = ended / Math.max(runningSeconds, SECONDS_MIN)
  const isRunning = status === 'in_progress'
  return {
    expected_cost_usd: usdFromNanoUsd(
      isRunning ? (costNanoUsd * BigInt(linesTotal)) / BigInt(ended) : costNanoUsd,
    ),
    lines_per_second: Math.round(linesPerSecond * 100) / 100,
    seconds_left: isRunning ? Math.ceil((linesTotal - ended) / linesPerSecond) : null,
  }
}

/** The clocks of several processes may differ. */
const SECONDS_MIN = 0.1

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000)
}
