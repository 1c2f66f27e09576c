import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Batch } from '../../../modules/batches/batches.ts'
import { orNull } from '../../../wires/nullable.ts'
import { messageBatchIdOf } from '../../../wires/openai-files/batch-id.ts'
import { CreatedAt, Id } from '../../../wires/usual-members.ts'

const time = (description: string) => orNull(Type.String({ format: 'date-time' }), description)
const count = (description: string) => Type.Integer({ description })

export const MessageBatch = Type.Object(
  {
    id: Id,
    type: Type.Literal('message_batch', { description: 'What kind of object this is.' }),
    processing_status: Type.Enum(['in_progress', 'canceling', 'ended'], { description: 'How far it is.' }),
    request_counts: Type.Object(
      {
        processing: count('Requests without a result.'),
        succeeded: count('Requests with an answer.'),
        errored: count('Requests with an error.'),
        canceled: count('Requests that were not asked before the batch was cancelled.'),
        expired: count('Requests that were not asked before the batch expired.'),
      },
      { description: 'How many requests there are.' },
    ),
    created_at: CreatedAt,
    expires_at: Type.String({ format: 'date-time', description: 'When it expires.' }),
    ended_at: time('When the last request had a result.'),
    archived_at: time('Always null: results are deleted with the batch.'),
    cancel_initiated_at: time('When somebody cancelled it.'),
    results_url: orNull(Type.String(), 'Where the results are, once the batch has ended.'),
  },
  { title: 'MessageBatch' },
)

/** @param baseUrl where the client reaches the gateway */
export function messageBatchToWire(batch: Batch, baseUrl: string): Static<typeof MessageBatch> {
  const endedAtMs =
    batch.completedAtMs ?? batch.failedAtMs ?? batch.expiredAtMs ?? batch.cancelledAtMs ?? null
  const { linesCompleted: succeeded, linesFailed: errored } = batch
  const others = Math.max(0, batch.linesTotal - succeeded - errored)
  const id = messageBatchIdOf(batch.id)
  const isEnded = endedAtMs !== null
  return {
    id,
    type: 'message_batch',
    processing_status: isEnded ? 'ended' : batch.status === 'cancelling' ? 'canceling' : 'in_progress',
    request_counts: {
      processing: isEnded ? 0 : others,
      succeeded,
      // One that failed as a whole, because its key is refused, has asked nothing.
      errored: batch.status === 'failed' ? batch.linesTotal : errored,
      canceled: batch.status === 'cancelled' ? others : 0,
      expired: batch.status === 'expired' ? others : 0,
    },
    created_at: toTimestamp(batch.createdAtMs),
    expires_at: toTimestamp(batch.expiresAtMs),
    ended_at: endedAtMs === null ? null : toTimestamp(endedAtMs),
    archived_at: null,
    cancel_initiated_at: batch.cancellingAtMs === null ? null : toTimestamp(batch.cancellingAtMs),
    // One that failed as a whole has no results.
    results_url: isEnded && batch.status !== 'failed' ? `${baseUrl}/v1/messages/batches/${id}/results` : null,
  }
}
