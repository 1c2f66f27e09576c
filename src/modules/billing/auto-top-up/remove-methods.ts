import type { Clock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { PaymentProvider } from '../../../payments/payment-provider.ts'
import type { Database } from '../../../storage/database.ts'

interface RemoveContext {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
}

const REMOVED_AT_ONCE = 20

/** Makes the provider forget the methods that were removed or replaced. */
export async function removeMethods(context: RemoveContext, provider: PaymentProvider): Promise<void> {
  const { database, clock, logger } = context
  const rows = await database.query<{ method_id: string }>(
    `UPDATE payment_methods_to_remove SET check_at = $2::timestamptz
       + greatest(interval '1 minute', least(interval '6 hours', ($2::timestamptz - created_at) / 4))
     WHERE (provider, method_id) IN (
       SELECT provider, method_id FROM payment_methods_to_remove WHERE provider = $1 AND check_at <= $2
       ORDER BY check_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING method_id`,
    [provider.name, new Date(clock.nowMs()), REMOVED_AT_ONCE],
  )
  for (const { method_id: methodId } of rows) {
    try {
      // The same card may have been saved again meanwhile: then the new one stays.
      const [kept] = await database.query(
        'SELECT 1 FROM auto_top_ups WHERE provider = $1 AND method_id = $2 LIMIT 1',
        [provider.name, methodId],
      )
      if (kept === undefined) await provider.savedMethods.remove(methodId)
      await database.query('DELETE FROM payment_methods_to_remove WHERE provider = $1 AND method_id = $2', [
        provider.name,
        methodId,
      ])
    } catch (error) {
      logger.warn({ err: error }, 'a payment method could not be removed at its provider yet')
    }
  }
}
