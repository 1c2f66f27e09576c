import { lockCheckout } from '../checkout-record.ts'
import { noteFailed } from './end-charge.ts'
import type { PerformContext } from './perform-charge.ts'

/** So that a process that does not know the provider yet, or still, ends nothing of those that do. */
const ABANDONED_AFTER_MS = 3_600_000
const ABANDONED_AT_ONCE = 20

/**
 * Ends charges of providers that are not set up any more as failed: nobody can ask what became of them, and a charge that is open keeps
 * later ones waiting. They stay due, so that whoever knows the provider again looks for the money and credits it.
 */
export async function abandonCharges(context: PerformContext, providers: readonly string[]): Promise<void> {
  const { database, clock, logger } = context
  const nowMs = clock.nowMs()
  const abandoned = await database.query<{ payment_id: string }>(
    `SELECT payment_id FROM auto_top_up_charges AS due JOIN checkouts USING (payment_id) JOIN payments ON payments.id = payment_id
     WHERE due.check_at <= $2 AND payments.status IN ('pending', 'processing') AND payments.created_at < $3
       AND checkouts.provider <> ALL ($1::text[])
     ORDER BY due.check_at LIMIT $4`,
    [providers, new Date(nowMs), new Date(nowMs - ABANDONED_AFTER_MS), ABANDONED_AT_ONCE],
  )
  for (const { payment_id: paymentId } of abandoned) {
    try {
      await abandonCharge(context, paymentId, nowMs)
    } catch (error) {
      logger.warn(
        { err: error, paymentId },
        'an automatic top-up of a former payment provider could not be ended',
      )
    }
  }
}

async function abandonCharge(context: PerformContext, paymentId: string, nowMs: number): Promise<void> {
  await context.database.transaction(async (transaction) => {
    const { payment, provider } = await lockCheckout(transaction, paymentId)
    if (payment.status !== 'pending' && payment.status !== 'processing') return
    await transaction.query(`UPDATE payments SET status = 'failed', reason = $2 WHERE id = $1`, [
      paymentId,
      `The payment provider ${provider} is not set up any more. If the card was charged, the credit comes when it is again.`,
    ])
    await noteFailed(transaction, context, {
      payment,
      decline: { code: 'provider_removed', isFinal: false },
      nowMs,
    })
    await transaction.query('UPDATE auto_top_up_charges SET check_at = $2 WHERE payment_id = $1', [
      paymentId,
      new Date(nowMs),
    ])
  })
}
