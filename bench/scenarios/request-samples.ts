import type { ExchangeResult } from '../load/load-job.ts'
import type { CpuUse } from '../measure-rounds.ts'

/** By contestant. Samples of one round have the same index. */
export type Samples<Sample> = ReadonlyMap<string, readonly Sample[]>

/** One contestant in one round, with many concurrent clients. */
export interface CrowdedSample extends CpuUse {
  readonly crowded: ExchangeResult
}

export type CrowdedSamples = Samples<CrowdedSample>

/** With one client, and with a crowd. */
export interface RequestSamples {
  readonly alone: Samples<ExchangeResult>
  readonly crowded: CrowdedSamples
}

export function figuresOf<Sample>(
  samples: Samples<Sample>,
  id: string,
  figure: (sample: Sample) => number,
): number[] {
  return (samples.get(id) ?? []).map(figure)
}

/** Computed round by round, because the machine changes between rounds. */
export function throughputRatios(samples: CrowdedSamples, id: string, to: string): number[] {
  const others = figuresOf(samples, to, ({ crowded }) => crowded.exchangesPerSecond)
  return figuresOf(samples, id, ({ crowded }) => crowded.exchangesPerSecond).map(
    (perSecond, round) => perSecond / (others[round] ?? Number.NaN),
  )
}

/** Returns the differences to another contestant in the same rounds. */
export function differences<Sample>(
  samples: Samples<Sample>,
  { id, from, figure }: { id: string; from: string; figure: (sample: Sample) => number },
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
