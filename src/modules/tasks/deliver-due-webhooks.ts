import type { Logger } from '../../kernel/logger.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { deliverWebhook, type DeliverOptions } from './deliver-webhook.ts'
import { takeDueDeliveries } from './webhook-delivery.ts'

const DELIVERIES_AT_ONCE = 20
const ROUNDS_MAX = 50

/** Tells everybody whose time has come, many at once. Any number of processes may do it: they take different ones. */
export async function deliverDueWebhooks(
  options: DeliverOptions & { readonly logger: Logger },
): Promise<void> {
  const { database, logger } = options
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const due = await takeDueDeliveries(database, DELIVERIES_AT_ONCE)
    await Promise.all(
      due.map((delivery) =>
        deliverWebhook(options, delivery).catch((error: unknown) => {
          // It comes up again when its time as taken is over.
          logger.warn({ reason: messageOf(error), taskId: delivery.taskId }, 'a webhook could not be tried')
        }),
      ),
    )
    if (due.length < DELIVERIES_AT_ONCE) return
  }
}
