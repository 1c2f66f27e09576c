import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findRunningPostgres } from '../../src/storage/embedded-postgres/find-running-postgres.ts'
import { describeWorker } from '../contestants/parkway.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { pickFreePort, startProcess } from '../start-process.ts'
import type { StartedProcess } from '../start-process.ts'
import { sum } from '../statistics.ts'

/** The workers of one gateway, on the gateway's core. */
export interface WorkerCrew {
  /** Starts the missing workers and waits until they are ready. */
  growTo(count: number): Promise<void>
  cpuMicroseconds(): number
  stop(): Promise<void>
}

const START_MS_MAX = 30_000
const POLL_MS = 50

export function hireWorkers(gateway: RunningContestant, upstreamPort: number): WorkerCrew {
  const workers: StartedProcess[] = []
  const { dataDirectory } = requireLedger(gateway)
  const startWorker = async (name: string): Promise<StartedProcess> => {
    const database = await findRunningPostgres({ dataDir: dataDirectory })
    if (database === null) throw new Error(`no database runs in ${dataDirectory}`)
    const { connectionString } = database
    const port = await pickFreePort()
    const started = startProcess({
      ...describeWorker({ port, upstreamPort, dataDirectory, connectionString }),
      name,
      core: 'contestant',
      // Next to the gateway's directory: processes that name that one count as part of the gateway.
      directory: join(dataDirectory, '..', '..', name),
    })
    await waitUntilReady(started, port)
    return started
  }
  return {
    growTo: async (count) => {
      while (workers.length < count)
        workers.push(await startWorker(`${gateway.id}-worker-${workers.length + 1}`))
    },
    cpuMicroseconds: () => sum(workers.map((worker) => worker.usage()?.cpuMicroseconds ?? Number.NaN)),
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}

function requireLedger({ id, ledger }: RunningContestant) {
  if (ledger === undefined) throw new Error(`${id} keeps no books and no tasks`)
  return ledger
}

async function waitUntilReady(started: StartedProcess, port: number): Promise<void> {
  for (const giveUpAtMs = performance.now() + START_MS_MAX; performance.now() < giveUpAtMs;) {
    if (started.hasEnded()) break
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      async (answer) => answer.arrayBuffer().then(() => answer.status),
      () => 0,
    )
    if (status === 200) return
    await sleep(POLL_MS)
  }
  throw new Error(`${started.name} does not start:\n${started.logTail()}`)
}
