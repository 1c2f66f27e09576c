import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { sum } from './statistics.ts'

/** Resource usage of a contestant over all its processes. Undefined if there is no `/proc`. */
export interface ProcessTreeUsage {
  readonly pids: readonly number[]
  /** Processes of the database server that the contestant runs. */
  readonly databasePids: readonly number[]
  /**
   * User and system time of all processes except the database, including children that have ended. The kernel counts it in
   * hundredths of a second.
   */
  readonly cpuMicroseconds: number
  readonly databaseCpuMicroseconds: number
  /** Memory of all processes. Memory that the database's processes share is counted once, although each of them reports it. */
  readonly rssMib: number
  /** The largest single process: for a gateway with its own database, the gateway. */
  readonly rssOfLargestMib: number
}

/**
 * Reads the descendants of `rootPid`, and detached processes (such as a database server) that name the contestant's directory in
 * their command line.
 */
export function readProcessTree(rootPid: number, directory: string): ProcessTreeUsage | undefined {
  const processes = readProcesses()
  if (processes === undefined) return undefined
  const members = new Set(
    processes.filter(({ pid }) => pid === rootPid || namesDirectory(pid, directory)).map(({ pid }) => pid),
  )
  // One generation per pass. No contestant nests its processes deeper than this.
  for (let generation = 0; generation < GENERATIONS_MAX; generation += 1) {
    for (const { pid, parentPid } of processes) if (members.has(parentPid)) members.add(pid)
  }
  const family = processes.filter(({ pid }) => members.has(pid))
  const [database, own] = [family.filter(isDatabase), family.filter((member) => !isDatabase(member))]
  return {
    pids: family.map(({ pid }) => pid),
    databasePids: database.map(({ pid }) => pid),
    cpuMicroseconds: sumCpuMicroseconds(own),
    databaseCpuMicroseconds: sumCpuMicroseconds(database),
    rssMib: sum(own.map(({ rssPages }) => rssPages / PAGES_PER_MIB)) + sum(database.map(readProportionalMib)),
    rssOfLargestMib: Math.max(0, ...family.map(({ rssPages }) => rssPages)) / PAGES_PER_MIB,
  }
}

function isDatabase({ name }: ProcessRow): boolean {
  return name === 'postgres'
}

/** Returns a process's own memory and its share of shared memory, or its whole memory if the kernel does not report shares. */
function readProportionalMib({ pid, rssPages }: ProcessRow): number {
  const rollup = readOrUndefined(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
  const kibibytes = /^Pss: +(\d+) kB/m.exec(rollup ?? '')?.[1]
  return kibibytes === undefined ? rssPages / PAGES_PER_MIB : Number(kibibytes) / 1024
}

function sumCpuMicroseconds(processes: readonly ProcessRow[]): number {
  return processes.reduce((total, { cpuTicks }) => total + cpuTicks, 0) * MICROSECONDS_PER_TICK
}

interface ProcessRow {
  readonly pid: number
  readonly name: string
  readonly parentPid: number
  readonly cpuTicks: number
  readonly rssPages: number
}

const GENERATIONS_MAX = 4
const MICROSECONDS_PER_TICK = 10_000
const PAGES_PER_MIB = (1024 * 1024) / readPageBytes()

function readPageBytes(): number {
  return Number(spawnSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }).stdout) || 4096
}

function readProcesses(): ProcessRow[] | undefined {
  const names = readOrUndefined(() => readdirSync('/proc'))
  return names?.filter((name) => /^\d+$/.test(name)).flatMap((name) => readProcess(Number(name)) ?? [])
}

function readProcess(pid: number): ProcessRow | undefined {
  const stat = readOrUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (stat === undefined) return undefined
  // The command name is in parentheses and may contain anything. The numbers follow the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - FIRST_FIELD_AFTER_NAME])
  return {
    pid,
    name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
    parentPid: field(4),
    cpuTicks: field(14) + field(15) + field(16) + field(17),
    rssPages: field(24),
  }
}

const FIRST_FIELD_AFTER_NAME = 3

function namesDirectory(pid: number, directory: string): boolean {
  return (
    readOrUndefined(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))?.includes(`${directory}/`) ?? false
  )
}

/** Processes may end while `/proc` is read. That is not an error. */
function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
