import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { ProcessIdentity } from './engine-plan.ts'

/** Environment variable of an engine. Its child processes inherit it. */
export const MARK = 'PARKWAY_ENGINE'

const LOOK_MS = 50
/** A process that is blocked in a kernel driver may take long to die. */
const KILL_MS_MAX = 10_000

interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly session: number
  readonly startTicks: string
}

/** Returns null if the process does not run. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | null> {
  const entry = await readEntry(pid)
  return entry === null ? null : { pid, startedAt: `${await readBootId()}:${entry.startTicks}` }
}

export async function isAlive({ pid, startedAt }: ProcessIdentity): Promise<boolean> {
  return (await identifyProcess(pid))?.startedAt === startedAt
}

/**
 * Finds all processes of an engine: those in its session, those with its mark in the environment (a process that leaves the
 * session keeps its environment), and their descendants.
 */
export async function findTree(
  instanceId: string,
  engine: ProcessIdentity | null,
): Promise<readonly number[]> {
  const entries = await readEntries()
  const leader = engine === null ? undefined : entries.find(({ pid }) => pid === engine.pid)
  const isReused =
    engine !== null &&
    leader !== undefined &&
    engine.startedAt !== `${await readBootId()}:${leader.startTicks}`
  const session = isReused ? null : (engine?.pid ?? null)
  const isOwn = async ({ pid, session: own }: ProcessEntry) =>
    pid !== process.pid && (own === session || (await hasMark(pid, instanceId)))
  const marks = await Promise.all(entries.map(isOwn))
  const found = new Set(entries.filter((_, index) => marks[index]).map(({ pid }) => pid))
  for (let size = -1; size !== found.size;) {
    size = found.size
    for (const { pid, parent } of entries) if (found.has(parent)) found.add(pid)
  }
  return [...found]
}

/** Sends SIGTERM, then SIGKILL after the grace period. Returns whether all processes have ended. */
export async function endTree(
  instanceId: string,
  engine: ProcessIdentity | null,
  graceMs: number,
): Promise<boolean> {
  const startedMs = performance.now()
  let hasAsked = graceMs === 0
  for (;;) {
    const pids = await findTree(instanceId, engine)
    if (pids.length === 0) return true
    const elapsedMs = performance.now() - startedMs
    if (elapsedMs > graceMs + KILL_MS_MAX) return false
    if (elapsedMs >= graceMs) send(pids, 'SIGKILL')
    else if (!hasAsked) send(pids, 'SIGTERM')
    hasAsked = true
    await wait(LOOK_MS)
  }
}

/** Returns the anonymous and swapped memory of processes. Mapped files are not counted, because the kernel can drop them. */
export async function readOwnBytes(pids: readonly number[]): Promise<number> {
  let sum = 0
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    for (const [, kib] of status.matchAll(/^(?:RssAnon|VmSwap):\s+(\d+) kB$/gm)) sum += Number(kib) * 1024
  }
  return sum
}

function send(pids: readonly number[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has already ended.
    }
  }
}

async function readEntries(): Promise<readonly ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  return (await Promise.all(pids.map(readEntry))).filter((entry) => entry !== null)
}

async function readEntry(pid: number): Promise<ProcessEntry | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // The process name may contain spaces and parentheses, so count the fields after the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, , session] = fields
  const startTicks = fields[19]
  if (state === 'Z' || state === 'X' || startTicks === undefined) return null
  return { pid, parent: Number(parent), session: Number(session), startTicks }
}

async function hasMark(pid: number, instanceId: string): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  return `\0${environ}`.includes(`\0${MARK}=${instanceId}\0`)
}

let bootId: Promise<string> | null = null

function readBootId(): Promise<string> {
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim())
  return bootId
}
