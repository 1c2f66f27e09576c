import type { ExchangeResult } from '../load/load-job.ts'
import type { CpuUse } from '../measure-rounds.ts'

/** One contestant in one round, with as many clients as it can serve. */
export interface CrowdedSample extends CpuUse {
  readonly crowded: ExchangeResult
}

/** The same, and with one client. */
export interface RequestSample extends CrowdedSample {
  readonly alone: ExchangeResult
}

/** By contestant; the samples of one round stand at the same index. */
export type CrowdedSamples<Sample extends CrowdedSample = CrowdedSample> = ReadonlyMap<
  string,
  readonly Sample[]
>
export type RequestSamples = CrowdedSamples<RequestSample>

export function figuresOf<Sample extends CrowdedSample>(
  samples: CrowdedSamples<Sample>,
  id: string,
  figure: (sample: Sample) => number,
): number[] {
  return (samples.get(id) ?? []).map(figure)
}

/** Round by round, because the machine is not the same from one round to the next. */
export function throughputRatios(samples: CrowdedSamples, id: string, to: string): number[] {
  const others = figuresOf(samples, to, ({ crowded }) => crowded.exchangesPerSecond)
  return figuresOf(samples, id, ({ crowded }) => crowded.exchangesPerSecond).map(
    (perSecond, round) => perSecond / (others[round] ?? Number.NaN),
  )
}

/** What a figure is above that of another contestant in the same round. */
export function differences(
  samples: RequestSamples,
  { id, from, figure }: { id: string; from: string; figure: (sample: RequestSample) => number },
): number[] {
  const others = figuresOf(samples, from, figure)
  return figuresOf(samples, id, figure).map((value, round) => value - (others[round] ?? Number.NaN))
}

export function cpuPerRequestUs(samples: CrowdedSamples, id: string): number[] {
  return figuresOf(
    samples,
    id,
    ({ cpuMicroseconds, crowded }) => cpuMicroseconds / crowded.exchangesWithWarmup,
  )
}

export function databaseCpuPerRequestUs(samples: CrowdedSamples, id: string): number[] {
  return figuresOf(
    samples,
    id,
    ({ databaseCpuMicroseconds, crowded }) => databaseCpuMicroseconds / crowded.exchangesWithWarmup,
  )
}
