import { readFileSync } from 'node:fs'

/** Starts counting; the returned function gives the share of the machine's time that the hypervisor has taken since. */
export function readStolenShare(): () => number | undefined {
  const before = readCpuTicks()
  return () => {
    const now = readCpuTicks()
    if (before === undefined || now === undefined) return undefined
    return (now.stolen - before.stolen) / Math.max(1, now.total - before.total)
  }
}

function readCpuTicks(): { stolen: number; total: number } | undefined {
  try {
    const fields =
      readFileSync('/proc/stat', 'latin1').split('\n')[0]?.trim().split(/ +/).slice(1, 9).map(Number) ?? []
    return { stolen: fields[7] ?? 0, total: fields.reduce((total, ticks) => total + ticks, 0) }
  } catch {
    return undefined
  }
}
