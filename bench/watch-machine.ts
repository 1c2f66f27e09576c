import { readFileSync } from 'node:fs'

/** CPU time that the benchmark did not get, as shares of the time of all cores. */
export interface MachineNoise {
  /** Taken by the hypervisor for other guests. */
  readonly stolenShare: number
  /** Used by processes that do not belong to the benchmark. */
  readonly othersShare: number
}

/** Starts measuring. The returned function gives the noise since then, or undefined if there is no `/proc`. */
export function watchMachine(readOwnCpuMicroseconds: () => number): () => MachineNoise | undefined {
  const before = readCpuTicks()
  const ownBefore = readOwnCpuMicroseconds()
  return () => {
    const now = readCpuTicks()
    if (before === undefined || now === undefined) return undefined
    const total = Math.max(1, now.total - before.total)
    const ownTicks = (readOwnCpuMicroseconds() - ownBefore) / MICROSECONDS_PER_TICK
    return {
      stolenShare: (now.stolen - before.stolen) / total,
      othersShare: Math.max(0, (now.busy - before.busy - ownTicks) / total),
    }
  }
}

const MICROSECONDS_PER_TICK = 10_000

function readCpuTicks(): { busy: number; stolen: number; total: number } | undefined {
  try {
    const line = readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? ''
    const [
      user = 0,
      nice = 0,
      system = 0,
      idle = 0,
      waiting = 0,
      interrupts = 0,
      softInterrupts = 0,
      stolen = 0,
    ] = line.trim().split(/ +/).slice(1).map(Number)
    const busy = user + nice + system + interrupts + softInterrupts
    return { busy, stolen, total: busy + idle + waiting + stolen }
  } catch {
    return undefined
  }
}
