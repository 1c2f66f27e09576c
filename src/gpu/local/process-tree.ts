import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { ProcessIdentity } from './engine-plan.ts'

/** Environment variable of an engine. Its child processes inherit it. */
export const MARK = 'PARKWAY_ENGINE'

const LOOK_MS = 50
/** What a dying process started is killed too. */
const KILL_AGAIN_MS = 500
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
  return (await findEntries(instanceId, engine)).map(({ pid }) => pid)
}

async function findEntries(
  instanceId: string,
  engine: ProcessIdentity | null,
): Promise<readonly ProcessEntry[]> {
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
  return entries.filter(({ pid }) => found.has(pid))
}

/** Sends SIGTERM, then SIGKILL after the grace period. Returns whether all processes have ended. */
export async function endTree(
  instanceId: string,
  engine: ProcessIdentity | null,
  graceMs: number,
): Promise<boolean> {
  const graceEndMs = performance.now() + graceMs
  const lastMs = graceEndMs + KILL_MS_MAX
  let hasAsked = graceMs === 0
  for (;;) {
    const tree = await findEntries(instanceId, engine)
    if (tree.length === 0) return true
    const nowMs = performance.now()
    if (nowMs > lastMs) return false
    const isOver = nowMs >= graceEndMs
    if (isOver) send(tree, 'SIGKILL')
    else if (!hasAsked) send(tree, 'SIGTERM')
    hasAsked = true
    await waitUntilEnded(tree, isOver ? nowMs + KILL_AGAIN_MS : graceEndMs)
  }
}

/** Looks at these processes only: to look at all of the machine takes a hundred times as long. */
async function waitUntilEnded(tree: readonly ProcessEntry[], untilMs: number): Promise<void> {
  for (;;) {
    await wait(Math.max(1, Math.min(LOOK_MS, untilMs - performance.now())))
    const now = await Promise.all(tree.map(({ pid }) => readEntry(pid)))
    if (tree.every(({ startTicks }, index) => now[index]?.startTicks !== startTicks)) return
    if (performance.now() >= untilMs) return
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

function send(tree: readonly ProcessEntry[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const { pid } of tree) {
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
