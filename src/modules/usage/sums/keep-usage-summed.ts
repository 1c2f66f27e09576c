import type { Clock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Database } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { sumGatewayDays } from './sum-gateway-days.ts'
import { endOfSummedDays, sumUsage } from './sum-usage.ts'

const INTERVAL_MS = 10 * 60_000
/** A gateway that has just started has other things to do. */
const FIRST_MS = 30_000

interface KeepOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
}

/** Adds up usage in the background, in every process. Returns how to stop it. */
export function keepUsageSummed({ database, clock, logger }: KeepOptions): () => Promise<void> {
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  let lookedUntilMs = 0
  const schedule = (delayMs: number): void => {
    if (isStopped) return
    // Random, so that processes that started together do not do this together.
    timer = setTimeout(run, delayMs * (0.5 + Math.random())).unref()
  }
  const sum = async (): Promise<void> => {
    const untilMs = endOfSummedDays(clock.nowMs())
    await sumUsage({
      database,
      untilMs,
      isForNewAccounts: untilMs !== lookedUntilMs,
      isStopped: () => isStopped,
    })
    lookedUntilMs = untilMs
    await sumGatewayDays({ database, untilMs, isStopped: () => isStopped })
  }
  const run = (): void => {
    running = sum()
      .catch((error: unknown) => logger.warn({ reason: messageOf(error) }, 'usage could not be added up'))
      .finally(() => schedule(INTERVAL_MS))
  }
  schedule(FIRST_MS)
  return async () => {
    isStopped = true
    if (timer) clearTimeout(timer)
    await running
  }
}
