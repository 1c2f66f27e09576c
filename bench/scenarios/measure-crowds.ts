import { chooseWindowMs } from '../choose-window.ts'
import { measureCpu, measureRounds } from '../measure-rounds.ts'
import type { ExchangeJob } from '../load/load-job.ts'
import type { RunningContestant } from '../running-contestant.ts'
import type { CrowdedSample, CrowdedSamples } from './request-samples.ts'
import type { BenchSession } from './scenario.ts'

/** One kind of request to a gateway. Each kind counts as a contestant, so that all of them are measured once per round. */
interface AskedRequest extends RunningContestant {
  readonly request: string
  readonly rotation?: ExchangeJob['rotation']
}

interface CrowdOptions {
  /** How long each kind is sent before the rounds, to find its rate. As long again is sent before that, to warm up. */
  readonly calibrationMs: number
  /** The beginning of progress notes. */
  readonly label: string
}

const CROWD = 64
const WARMUP_MS = 150

/** Measures each kind of request in rounds, with many concurrent clients. */
export async function measureCrowds(
  { load, options, note }: BenchSession,
  asked: readonly AskedRequest[],
  { calibrationMs, label }: CrowdOptions,
): Promise<CrowdedSamples> {
  const rates = new Map<string, number>()
  for (const { id, port, request, rotation } of asked) {
    const rotating = rotation === undefined ? {} : { rotation }
    const job = {
      port,
      request,
      ...rotating,
      concurrency: CROWD,
      warmupMs: calibrationMs,
      durationMs: calibrationMs,
    }
    rates.set(id, (await load.runExchanges(job)).exchangesPerSecond)
  }
  return measureRounds({
    contestants: asked,
    rounds: options.rounds,
    measure: async (contestant): Promise<CrowdedSample> => {
      const { port } = contestant
      const { request = '', rotation } = asked.find(({ id }) => id === contestant.id) ?? {}
      const rotating = rotation === undefined ? {} : { rotation }
      const durationMs = chooseWindowMs({
        secondsPerRound: options.secondsPerRound,
        concurrency: CROWD,
        exchangesPerSecond: rates.get(contestant.id) ?? 0,
      })
      const { result, ...cpu } = await measureCpu(contestant, async () =>
        load.runExchanges({
          port,
          request,
          ...rotating,
          concurrency: CROWD,
          warmupMs: WARMUP_MS,
          durationMs,
        }),
      )
      return { crowded: result, ...cpu }
    },
    note: (text) => note(`${label}: ${text}`),
  })
}
