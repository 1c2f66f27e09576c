import type { Logger } from '../../kernel/logger.ts'
import type { PaymentProvider } from '../../payments/payment-provider.ts'
import type { ReportContext } from './apply-report.ts'
import { claimDueCheckouts, findCheckout } from './checkout-record.ts'
import { askProvider } from './follow-checkout.ts'
import { forgetOldGuesses } from './limit-guesses.ts'

const CHECKOUTS_PER_SWEEP_MAX = 20
const EVENTS_KEPT_MS = 90 * 86_400_000

export interface Sweep {
  close(): Promise<void>
}

/**
 * Asks providers about open checkouts for which no webhook arrived: payments that were made but not credited, and expired
 * checkouts. Every process sweeps; each checkout is claimed by one of them.
 */
export function startSweep(
  context: ReportContext & { readonly logger: Logger },
  { providers, intervalMs }: { providers: Iterable<PaymentProvider>; intervalMs: number },
): Sweep {
  let isClosed = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = sweep().finally(() => {
        if (!isClosed) schedule()
      })
    }, intervalMs).unref()
  }
  const sweep = async (): Promise<void> => {
    try {
      for (const provider of providers) {
        if (!isClosed) await sweepProvider(context, provider, () => isClosed)
      }
      await forgetOld(context)
    } catch (error) {
      context.logger.warn({ err: error }, 'payments could not be swept; they are again in a while')
    }
  }
  schedule()
  return {
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}

async function sweepProvider(
  context: ReportContext & { readonly logger: Logger },
  provider: PaymentProvider,
  isClosed: () => boolean,
): Promise<void> {
  if (provider.problem !== null) return
  const paymentIds = await claimDueCheckouts(context.database, {
    provider: provider.name,
    nowMs: context.clock.nowMs(),
    limit: CHECKOUTS_PER_SWEEP_MAX,
  })
  for (const paymentId of paymentIds) {
    if (isClosed()) return
    const checkout = await findCheckout(context.database, provider.name, { paymentId })
    if (checkout === null) continue
    try {
      await askProvider(context, provider, checkout)
    } catch (error) {
      context.logger.warn({ err: error, paymentId }, 'the state of a payment could not be read')
    }
  }
}

async function forgetOld(context: ReportContext): Promise<void> {
  const nowMs = context.clock.nowMs()
  await context.database.query('DELETE FROM payment_events WHERE created_at < $1', [
    new Date(nowMs - EVENTS_KEPT_MS),
  ])
  await forgetOldGuesses(context.database, nowMs)
}
