import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningContestant } from './running-contestant.ts'
import { watchMachine } from './watch-machine.ts'

/**
 * Measures every contestant once a round, in another order each round, so that what the machine does to one it does to
 * all. Samples of the same round stand at the same index and may be divided by or subtracted from each other.
 */
export async function measureRounds<Sample>({
  contestants,
  rounds,
  measure,
  note,
}: {
  contestants: readonly RunningContestant[]
  rounds: number
  measure: (contestant: RunningContestant) => Promise<Sample>
  note: (text: string) => void
}): Promise<Map<string, Sample[]>> {
  const samples = new Map(contestants.map(({ id }) => [id, [] as Sample[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of orderOfRound(contestants, round)) {
      // A connection that the database has opened since inherits the core, but not the priority.
      contestant.process.moveDatabaseTo(contestant.databaseCore)
      samples.get(contestant.id)?.push(await measureInPeace(() => measure(contestant)))
      contestant.process.trimLog()
    }
    note(`round ${round + 1} of ${rounds}`)
  }
  return samples
}

const STOLEN_SHARE_MAX = 0.02
const REPEATS_MAX = 3

/** What the hypervisor took time from is measured again, unless it does nothing else. */
async function measureInPeace<Sample>(measure: () => Promise<Sample>): Promise<Sample> {
  for (let repeats = 0; ; repeats += 1) {
    const readNoise = watchMachine(() => 0)
    const sample = await measure()
    if ((readNoise()?.stolenShare ?? 0) <= STOLEN_SHARE_MAX || repeats === REPEATS_MAX) return sample
  }
}

/**
 * The CPU microseconds a contestant spends on some work, what it puts off until after the last answer included: the
 * clock stops when its processes rest. This also keeps one contestant's late work off the next one's core.
 */
export async function measureCpu<Result>(
  contestant: RunningContestant,
  work: () => Promise<Result>,
): Promise<{ result: Result } & CpuUse> {
  const before = readCpu(contestant)
  const startedAtMs = performance.now()
  const result = await work()
  const atEnd = readCpu(contestant)
  const elapsedMicroseconds = (performance.now() - startedAtMs) * 1000
  let last = atEnd
  for (let waited = 0; waited < REST_CHECKS_MAX; waited += 1) {
    await sleep(REST_CHECK_MS)
    const now = readCpu(contestant)
    const isResting = !(now.own + now.database - last.own - last.database > RESTING_MICROSECONDS_MAX)
    last = now
    if (isResting) break
  }
  return {
    result,
    cpuMicroseconds: last.own - before.own,
    databaseCpuMicroseconds: last.database - before.database,
    busyShare: (atEnd.onItsCore - before.onItsCore) / elapsedMicroseconds,
  }
}

export interface CpuUse {
  /** Without its database. */
  readonly cpuMicroseconds: number
  readonly databaseCpuMicroseconds: number
  /** How much of its core the contestant used, with its database where that shares the core. */
  readonly busyShare: number
}

function readCpu({ process, databaseCore }: RunningContestant) {
  const usage = process.usage()
  const own = usage?.cpuMicroseconds ?? Number.NaN
  const database = usage?.databaseCpuMicroseconds ?? Number.NaN
  return { own, database, onItsCore: databaseCore === 'contestant' ? own + database : own }
}

const REST_CHECK_MS = 60
const REST_CHECKS_MAX = 30
const RESTING_MICROSECONDS_MAX = 10_000

function orderOfRound(contestants: readonly RunningContestant[], round: number): RunningContestant[] {
  const start = round % contestants.length
  const rotated = [...contestants.slice(start), ...contestants.slice(0, start)]
  return round % 2 === 0 ? rotated : rotated.toReversed()
}
