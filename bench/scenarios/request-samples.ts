import type { ExchangeResult } from '../load/load-job.ts'
import type { CpuUse } from '../measure-rounds.ts'

/** One contestant in one round. */
export interface RequestSample extends CpuUse {
  readonly alone: ExchangeResult
  readonly crowded: ExchangeResult
}

/** By contestant; the samples of one round stand at the same index. */
export type RequestSamples = ReadonlyMap<string, readonly RequestSample[]>

export function figuresOf(
  samples: RequestSamples,
  id: string,
  figure: (sample: RequestSample) => number,
): number[] {
  return (samples.get(id) ?? []).map(figure)
}

/** Round by round, because the machine is not the same from one round to the next. */
export function throughputRatios(samples: RequestSamples, id: string, to: string): number[] {
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

export function cpuPerRequestUs(samples: RequestSamples, id: string): number[] {
  return figuresOf(
    samples,
    id,
    ({ cpuMicroseconds, crowded }) => cpuMicroseconds / crowded.exchangesWithWarmup,
  )
}

export function databaseCpuPerRequestUs(samples: RequestSamples, id: string): number[] {
  return figuresOf(
    samples,
    id,
    ({ databaseCpuMicroseconds, crowded }) => databaseCpuMicroseconds / crowded.exchangesWithWarmup,
  )
}
