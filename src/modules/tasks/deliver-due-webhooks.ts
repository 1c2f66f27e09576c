import type { Logger } from '../../kernel/logger.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { deliverWebhook, type DeliverOptions } from './deliver-webhook.ts'
import { takeDueDeliveries } from './webhook-delivery.ts'

const DELIVERIES_AT_ONCE = 20
const ROUNDS_MAX = 50

/** Sends all due webhooks, many concurrently. Several processes may do this at once: each takes different deliveries. */
export async function deliverDueWebhooks(
  options: DeliverOptions & { readonly logger: Logger },
): Promise<void> {
  const { database, logger } = options
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const due = await takeDueDeliveries(database, DELIVERIES_AT_ONCE)
    await Promise.all(
      due.map((delivery) =>
        deliverWebhook(options, delivery).catch((error: unknown) => {
          // The delivery becomes due again when its lease ends.
          logger.warn({ reason: messageOf(error), taskId: delivery.taskId }, 'a webhook could not be tried')
        }),
      ),
    )
    if (due.length < DELIVERIES_AT_ONCE) return
  }
}
