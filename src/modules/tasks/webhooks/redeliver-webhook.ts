import { AppError, notFound } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Database } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import { idsOf, type Place } from '../../../storage/place.ts'
import { findDelivery, isDeliveryWithin, TAKEN_MS, type WebhookDelivery } from './webhook-delivery.ts'

/** Attempts of one delivery, with those that were asked for. */
const ATTEMPTS_MAX = 100
/** Between two attempts, so that nobody uses the gateway to flood a server. */
const PAUSE_SECONDS = 10

/** Calls a webhook again at once, with the same `webhook-id`. A delivery that waits for its next attempt does not wait longer. */
export async function redeliverWebhook(
  database: Database,
  place: Place,
  deliveryId: string,
): Promise<WebhookDelivery> {
  if (!isUuid(deliveryId)) throw notFound('webhook delivery')
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<StateRow>(readWithin(place), [
      deliveryId,
      idsOf(place),
      PAUSE_SECONDS,
      TAKEN_MS,
    ])
    if (row === undefined) throw notFound('webhook delivery')
    requireTurn(row)
    const [again] = await transaction.query<{ next_attempt_at: Date }>(
      `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now(), completed_at = NULL
       WHERE id = $1 RETURNING next_attempt_at`,
      [deliveryId],
    )
    if (again !== undefined) await addJob(transaction, 'webhook', { runAt: again.next_attempt_at })
    const delivery = await findDelivery(transaction, place, deliveryId)
    if (delivery === undefined) throw notFound('webhook delivery')
    return delivery
  })
}

interface StateRow {
  readonly attempts: number
  /** An attempt runs now, or is about to. */
  readonly is_taken: boolean
  readonly is_recent: boolean
}

const readWithin = (place: Place): string => `
  SELECT jsonb_array_length(attempts) AS attempts,
    status = 'pending' AND next_attempt_at <= now() + $4 * interval '1 millisecond' AS is_taken,
    coalesce((attempts -> -1 ->> 'at')::timestamptz > now() - $3 * interval '1 second', false) AS is_recent
  FROM webhook_deliveries WHERE id = $1 AND ${isDeliveryWithin(place, '$2')} FOR UPDATE`

function requireTurn({ attempts, is_taken: isTaken, is_recent: isRecent }: StateRow): void {
  if (isTaken) throw new AppError('conflict', 'The webhook is being called, or is about to be.')
  if (attempts >= ATTEMPTS_MAX)
    throw new AppError('conflict', `The webhook has been called ${ATTEMPTS_MAX} times, which is the limit.`)
  if (!isRecent) return
  const message = `The webhook was called less than ${PAUSE_SECONDS} s ago. Try again in ${PAUSE_SECONDS} s.`
  throw new AppError('rate_limit_exceeded', message, { retryAfterSeconds: PAUSE_SECONDS })
}
