import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { verifyLedger } from '../src/modules/ledger/ledger.ts'
import type { Queryable } from '../src/storage/database.ts'
import { formatCount } from './format-figure.ts'
import { withGatewayDatabase } from './gateway-database.ts'
import { NO_TRAFFIC } from './load/load-generator.ts'
import type { Traffic } from './load/load-job.ts'
import type { RunningContestant } from './running-contestant.ts'
import type { Verdict } from './scenarios/scenario.ts'

/** The readiness check sends one chat request before the load. */
const PROBE_ANSWERS = 1
const SETTLE_STEP_MS = 50
const SETTLE_STEPS_MAX = 100

/** Checks after the load that the gateway's books balance and have each answer exactly once. */
export async function checkLedger({
  contestant: { id, ledger },
  traffic,
  rowsBefore,
}: {
  contestant: RunningContestant
  traffic: Traffic
  rowsBefore: number
}): Promise<Verdict[]> {
  if (ledger === undefined) return []
  const { answers, cutOff, cutOffWithin } = ledger.isCharging ? withProbe(traffic) : NO_TRAFFIC
  return withGatewayDatabase(ledger.dataDirectory, async (database) => {
    const rows = (await countSettledRows(database, rowsBefore + answers + cutOff)) - rowsBefore
    const verify = await loadVerification(ledger.checkout)
    const checks = await verify(database)
    const broken = checks.filter(({ differences }) => differences.length > 0)
    const cuts = `, ${formatCount(cutOff)} cut off (${formatCount(cutOffWithin)} of them within the answer)`
    const counts = `${formatCount(answers)} answers${cutOff > 0 ? cuts : ''}, ${formatCount(rows)} usage rows`
    const rules = broken.map(({ rule, differences }) => `\n       not so: ${rule}: ${differences.join('; ')}`)
    return [
      {
        target: `the ledger of ${id} is clean, with a usage row for each answer`,
        measured: `${broken.length === 0 ? 'clean' : 'BROKEN'}; ${counts}${rules.join('')}`,
        // A client cannot know whether a request that was cut off before its first token was answered.
        isMet: broken.length === 0 && rows >= answers + cutOffWithin && rows <= answers + cutOff,
      },
    ]
  })
}

/** Another checkout may have made other tables than this one knows. */
async function loadVerification(checkout: string): Promise<typeof verifyLedger> {
  const module = pathToFileURL(join(checkout, 'src/modules/ledger/ledger.ts')).href
  const loaded = (await import(module)) as { verifyLedger: typeof verifyLedger }
  return loaded.verifyLedger
}

function withProbe({ answers, ...cut }: Traffic): Traffic {
  return { answers: answers + PROBE_ANSWERS, ...cut }
}

/**
 * Waits until the charges of requests that were cut off are recorded, shortly after they end. Polls the sums, because counting
 * rows is slow.
 */
async function countSettledRows(database: Queryable, expected: number): Promise<number> {
  for (let step = 0; step < SETTLE_STEPS_MAX; step += 1) {
    const summed = await readCount(
      database,
      'SELECT coalesce(sum(requests), 0)::bigint AS count FROM usage_rollups',
    )
    if (summed >= expected) break
    await sleep(SETTLE_STEP_MS)
  }
  return readCount(database, 'SELECT count(*) FROM usage_records')
}

async function readCount(database: Queryable, sql: string): Promise<number> {
  const [row] = await database.query<{ count: bigint }>(sql)
  return Number(row?.count ?? 0)
}
