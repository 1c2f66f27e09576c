import type { Clock } from '../../../kernel/clock.ts'
import type { Database } from '../../../storage/database.ts'

/** How long starts on a tier took. */
export interface StartTime {
  readonly averageMinutes: number
  readonly sampleCount: number
}

export interface StartTimes {
  /** By the id of the tier. Tiers without a start that succeeded are missing. At most a minute old. */
  read(): Promise<ReadonlyMap<string, StartTime>>
}

/** The last runs of all accounts that are looked at. */
const RUNS_MAX = 500
const AGE_MS_MAX = 60_000

export function createStartTimes({ database, clock }: { database: Database; clock: Clock }): StartTimes {
  let known: Promise<ReadonlyMap<string, StartTime>> | null = null
  let readAtMs = 0
  return {
    read: () => {
      const nowMs = clock.monotonicMs()
      if (known === null || nowMs - readAtMs > AGE_MS_MAX) {
        readAtMs = nowMs
        known = readStartTimes(database)
        // A failure is not kept for a minute.
        known.catch(() => {
          known = null
        })
      }
      return known
    },
  }
}

interface Row {
  readonly gpu_tier: string
  readonly minutes: number
  readonly samples: number
}

async function readStartTimes(database: Database): Promise<ReadonlyMap<string, StartTime>> {
  const rows = await database.query<Row>(
    `SELECT d.gpu_tier, avg(extract(epoch FROM r.ready_at - r.created_at) / 60)::float8 AS minutes, count(*)::int AS samples
     FROM (SELECT * FROM deployment_runs ORDER BY id DESC LIMIT $1) r JOIN deployments d ON d.id = r.deployment_id
     WHERE r.ready_at IS NOT NULL GROUP BY d.gpu_tier`,
    [RUNS_MAX],
  )
  return new Map(
    rows.map(({ gpu_tier: tier, minutes, samples }) => [
      tier,
      { averageMinutes: Math.max(0, Math.round(minutes * 100) / 100), sampleCount: samples },
    ]),
  )
}
