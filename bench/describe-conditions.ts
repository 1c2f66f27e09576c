import { cpus } from 'node:os'
import type { BenchOptions } from './bench-options.ts'
import { formatMicroseconds } from './format-figure.ts'
import type { RunningContestant } from './running-contestant.ts'
import { isPinned } from './start-process.ts'
import type { MachineNoise } from './watch-machine.ts'

/** If other processes use more than this share of the machine, they affect the figures. */
const OTHERS_SHARE_MAX = 0.05

/** Describes the conditions that a reader needs to judge the table. */
export function describeConditions({
  options,
  contestants,
  noise,
  durableWriteUs,
}: {
  options: BenchOptions
  contestants: readonly RunningContestant[]
  noise: MachineNoise | undefined
  /** Before and after the load: on a shared disk it changes from minute to minute. */
  durableWriteUs: readonly [before: number, after: number]
}): string {
  const lines = [
    `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}; ${describeCores(options)}.`,
    contestants.map(({ id, version }) => `${id}: ${version}`).join('; '),
    describeMethod(options),
    `A write of 8 KiB is safe on this disk after ${formatMicroseconds(durableWriteUs[0])} before the load and ${formatMicroseconds(durableWriteUs[1])} after it, at the median; no commit can be faster.`,
  ]
  if (noise !== undefined) {
    const percent = (share: number) => `${(100 * share).toFixed(1)} %`
    lines.push(
      `Of the machine's time, ${percent(noise.stolenShare)} was stolen by the hypervisor and ${percent(noise.othersShare)} used by other processes.`,
    )
    if (noise.othersShare > OTHERS_SHARE_MAX)
      lines.push('The machine was not quiet: trust ratios and CPU figures only.')
  }
  return lines.join('\n')
}

function describeMethod({ soakMs, isGrowth, rounds, secondsPerRound }: BenchOptions): string {
  if (soakMs > 0) return 'Full load at concurrency 64, a sample every 5 s.'
  const medians = `${rounds} rounds of ${secondsPerRound} s; medians over rounds`
  if (isGrowth) return `${medians}, ratios within a round; each request comes from another account.`
  return `${medians}; "added" is against the mock upstream itself in the same round, whose own figures stand under "direct".`
}

function describeCores({ isOneCore }: BenchOptions): string {
  if (isPinned)
    return isOneCore
      ? 'each contestant on core 1, with its PostgreSQL; mock upstream and load generator on core 0'
      : "each contestant alone on core 1; mock upstream, load generator and the gateway's PostgreSQL on core 0"
  return 'processes not pinned to cores (no taskset, or one core): the load takes from the contestants'
}
