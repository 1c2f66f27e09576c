import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../app/call.ts'
import { randomShare } from '../support/random-share.ts'
import { startMeteredUpstream, type MeteredUpstream } from './metered-upstream.ts'
import { startRestartablePostgres } from './restartable-postgres.ts'
import { startFleet, type Fleet, type Gateway } from './start-fleet.ts'

/** Gateways that are killed, and a database that is restarted, while clients go on. */
export interface BreakingFleet {
  readonly fleet: Fleet
  readonly upstream: MeteredUpstream
  /** Any of the gateways that run. */
  pickGateway(): Promise<Gateway>
  /** Breaks something so often, at random times. Resolves when all gateways run again. */
  breakThings(order: { readonly breaks: number; readonly restartEvery: number }): Promise<void>
  /** Resolves when the leases of all killed gateways have been taken back. */
  untilReclaimed(): Promise<void>
  close(): Promise<void>
}

const LEASE_MS = 2_000
/** One restart out of this many flushes the database to disk. The others are like a crash. */
const FAST_EVERY = 8

export async function startBreakingFleet({
  gateways: count,
}: {
  readonly gateways: number
}): Promise<BreakingFleet> {
  const upstream = await startMeteredUpstream({ latencyMs: () => 20 + randomShare() * 600 })
  const postgres = await startRestartablePostgres()
  // No worker processes, because each of them would be a borrower too.
  const environment = { PARKWAY_LEASE_MS: String(LEASE_MS), LOG_LEVEL: 'error', PARKWAY_ROLE: 'api' }
  const fleet = await startFleet({ upstream, environment, connectionString: postgres.connectionString })
  const gateways: (Gateway | null)[] = []
  for (let number = 0; number < count; number += 1) gateways.push(await fleet.start())

  // Null while one is being replaced.
  const pickGateway = () => until(() => gateways[Math.floor(randomShare() * gateways.length)])
  const replaceOne = async (): Promise<void> => {
    const victim = await pickGateway()
    const index = gateways.indexOf(victim)
    gateways[index] = null
    victim.program.kill('SIGKILL')
    await victim.program.exited
    // A gateway that starts while the database restarts may exit; it is started again, as a supervisor would do.
    gateways[index] = await until(() => fleet.start().catch(() => null))
  }
  /** Open borrowers beyond one for each running gateway: those of killed processes. */
  const countDeadBorrowers = async (): Promise<number> => {
    const [row] = await fleet.database.query<{ open: bigint }>(
      'SELECT count(*) AS open FROM borrowers WHERE closed_at IS NULL',
    )
    return Number(row?.open ?? 0n) - count
  }

  return {
    fleet,
    upstream,
    pickGateway,
    breakThings: async ({ breaks, restartEvery }) => {
      const replacing: Promise<void>[] = []
      for (let turn = 1; turn <= breaks; turn += 1) {
        await delay(500 + randomShare() * 1_500)
        if (turn % restartEvery === 0) await postgres.restart(turn % FAST_EVERY === 0 ? 'fast' : 'immediate')
        else replacing.push(replaceOne())
      }
      await Promise.all(replacing)
    },
    untilReclaimed: async () => void (await until(async () => (await countDeadBorrowers()) === 0)),
    close: async () => {
      await fleet.close()
      await postgres.close()
      await upstream.close()
    },
  }
}
