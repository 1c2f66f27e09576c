import { readFile, statfs } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import type { Finding } from './finding.ts'

/** What this machine has left. Null for what cannot be read. */
export interface MachineState {
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null
  readonly memory: { readonly freeBytes: number; readonly totalBytes: number }
  readonly openFilesMax: number | null
}

const GIBIBYTE = 1024 ** 3
/** The server needs a connection for each request, and one to its upstream. */
const OPEN_FILES_MIN = 4_096

export async function readMachine(dataDir: string): Promise<MachineState> {
  const found = await statfs(dataDir).catch(() => null)
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const openFiles = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  const memory = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(memory)?.[1]
  return {
    disk:
      found === null
        ? null
        : { freeBytes: found.bavail * found.bsize, totalBytes: found.blocks * found.bsize },
    memory: {
      freeBytes: available === undefined ? freemem() : Number(available) * 1024,
      totalBytes: totalmem(),
    },
    openFilesMax: openFiles === undefined ? null : Number(openFiles),
  }
}

export function checkMachine({ disk, memory, openFilesMax }: MachineState): Finding[] {
  const findings: Finding[] = []
  if (disk !== null && (disk.freeBytes < GIBIBYTE || disk.freeBytes < disk.totalBytes / 20)) {
    const isNearlyFull = disk.freeBytes < GIBIBYTE / 4
    findings.push({
      code: 'disk_low',
      level: isNearlyFull ? 'critical' : 'warning',
      subject: 'the data directory',
      message: `Only ${(disk.freeBytes / GIBIBYTE).toFixed(1)} GiB are free.`,
      mend: 'Make room or grow the volume. Files can move to a bucket (MEDIA_STORE_URL), downloaded models can be deleted.',
    })
  }
  if (memory.freeBytes < memory.totalBytes / 20)
    findings.push({
      code: 'memory_low',
      level: 'warning',
      subject: null,
      message: `Only ${(memory.freeBytes / GIBIBYTE).toFixed(1)} of ${(memory.totalBytes / GIBIBYTE).toFixed(1)} GiB of memory are free.`,
      mend: 'Run fewer processes here (--processes), or give the machine more memory.',
    })
  if (openFilesMax !== null && openFilesMax < OPEN_FILES_MIN)
    findings.push({
      code: 'open_files_few',
      level: 'warning',
      subject: null,
      message: `A process may open ${openFilesMax} files, which bounds the requests at once.`,
      mend: 'Raise the limit: LimitNOFILE=65536 under systemd, or ulimit -n 65536.',
    })
  return findings
}
