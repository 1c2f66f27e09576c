import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { sum } from './statistics.ts'

/** What a contestant uses, over all its processes; undefined where there is no `/proc` to read it from. */
export interface ProcessTreeUsage {
  readonly pids: readonly number[]
  /** Those of the database server that the contestant runs beside itself. */
  readonly databasePids: readonly number[]
  /**
   * User and system time of all but the database, children that have ended included. Counted by the kernel in hundredths
   * of a second.
   */
  readonly cpuMicroseconds: number
  readonly databaseCpuMicroseconds: number
  /** Of all processes. What the database's share among themselves counts once: each of them has it in its own figure. */
  readonly rssMib: number
  /** The largest single process, which for a gateway with a database beside it is the gateway. */
  readonly rssOfLargestMib: number
}

/**
 * Reads the descendants of `rootPid`, and those that have left the family (a database server that detaches itself) but
 * name the contestant's directory in their command line.
 */
export function readProcessTree(rootPid: number, directory: string): ProcessTreeUsage | undefined {
  const processes = readProcesses()
  if (processes === undefined) return undefined
  const members = new Set(
    processes.filter(({ pid }) => pid === rootPid || namesDirectory(pid, directory)).map(({ pid }) => pid),
  )
  // A generation a pass; no contestant nests its processes deeper than this.
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

/** Its own memory and its part of what it shares; all of it where the kernel does not tell. */
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
  // The command name stands in parentheses and may hold anything; the numbers follow the last one.
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

/** Processes come and go while `/proc` is read; one that has gone is no error. */
function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
