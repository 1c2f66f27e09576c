import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningContestant } from './running-contestant.ts'
import { watchMachine } from './watch-machine.ts'

/**
 * Measures every contestant once per round, in a different order each round, so that disturbances of the machine affect all of
 * them. Samples of the same round have the same index and may be divided or subtracted.
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
      // Database connections opened since the last round inherit the core but not the priority.
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

/** Repeats a measurement during which the hypervisor took CPU time, up to `REPEATS_MAX` times. */
async function measureInPeace<Sample>(measure: () => Promise<Sample>): Promise<Sample> {
  for (let repeats = 0; ; repeats += 1) {
    const readNoise = watchMachine(() => 0)
    const sample = await measure()
    if ((readNoise()?.stolenShare ?? 0) <= STOLEN_SHARE_MAX || repeats === REPEATS_MAX) return sample
  }
}

/**
 * Measures the CPU microseconds of some work, including what the contestant does after the last answer: the measurement ends when
 * its processes are idle. This also keeps late work of one contestant off the core of the next.
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
  /** How much of its core the contestant used, including its database if that shares the core. */
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
