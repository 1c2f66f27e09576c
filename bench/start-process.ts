import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readProcessTree } from './process-tree.ts'
import type { ProcessTreeUsage } from './process-tree.ts'

/** The contestant has its own core. The mock upstream, the load generator and the benchmark share the other. */
export type Core = 'contestant' | 'harness'

export interface ProcessStart {
  readonly name: string
  readonly core: Core
  readonly command: string
  readonly arguments: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Directory of its log. Processes that name it in their command line count as part of the contestant. */
  readonly directory: string
  readonly workingDirectory?: string
  /** An IPC channel, for processes of the benchmark itself. */
  readonly hasChannel?: boolean
}

export interface StartedProcess {
  readonly name: string
  readonly child: ChildProcess
  usage(): ProcessTreeUsage | undefined
  hasEnded(): boolean
  logTail(): string
  /** Truncates the log: an access log grows with the load and is not needed. */
  trimLog(): void
  /** Moves the current processes of the contestant's database server to this core. */
  moveDatabaseTo(core: Core): void
  stop(): Promise<void>
}

const running = new Set<StartedProcess>()
let isStopping = false
/** Part of util-linux. macOS does not have it. */
const PINNING_COMMAND = 'taskset'
const CORE_NUMBERS: Readonly<Record<Core, string>> = { contestant: '1', harness: '0' }
const STOP_MS_MAX = 8000
const LOG_BYTES_MAX = 16 * 1024 * 1024

export function startProcess(start: ProcessStart): StartedProcess {
  if (isStopping) throw new Error('the benchmark is stopping')
  mkdirSync(start.directory, { recursive: true })
  const logPath = join(start.directory, `${start.name}.log`)
  const log = openSync(logPath, 'a')
  const [command, ...leading] = [...pinTo(start.core), start.command]
  const child = spawn(command ?? start.command, [...leading, ...start.arguments], {
    cwd: start.workingDirectory ?? start.directory,
    env: { ...inheritedEnvironment(), ...start.environment },
    // The default serialization turns NaN into null.
    serialization: 'advanced',
    // The kernel's autogroups share a core by session, and a separate session does not receive Ctrl-C.
    detached: true,
    stdio: start.hasChannel === true ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
  })
  closeSync(log)
  if (child.pid !== undefined) raisePriority(child.pid)
  const moved = new Set<number>()
  let ended = false
  child.on('exit', () => (ended = true))
  child.on('error', () => (ended = true))
  const started: StartedProcess = {
    name: start.name,
    child,
    usage: () => (child.pid === undefined ? undefined : readProcessTree(child.pid, start.directory)),
    hasEnded: () => ended,
    logTail: () => readFileSync(logPath, 'utf8').slice(-2000),
    trimLog: () => {
      if (statSync(logPath).size > LOG_BYTES_MAX) truncateSync(logPath)
    },
    moveDatabaseTo: (core) => {
      for (const pid of started.usage()?.databasePids ?? []) {
        if (moved.has(pid)) continue
        moved.add(pid)
        moveProcess(pid, core)
      }
    },
    stop: async () => {
      await stopTree(started)
      running.delete(started)
    },
  }
  running.add(started)
  return started
}

export async function stopAllProcesses(): Promise<void> {
  isStopping = true
  await Promise.all([...running].map((started) => started.stop()))
}

/** Returns the CPU time of the benchmark and of all processes it has started. */
export function readOwnCpuMicroseconds(): number {
  const { user, system } = process.cpuUsage()
  return [...running].reduce((total, started) => total + sumUsedMicroseconds(started.usage()), user + system)
}

function sumUsedMicroseconds(usage: ProcessTreeUsage | undefined): number {
  return usage === undefined ? 0 : usage.cpuMicroseconds + usage.databaseCpuMicroseconds
}

export async function pickFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

/** False if `taskset` is missing or there is only one core. The table reports it. */
export const isPinned =
  availableParallelism() >= 2 &&
  spawnSync(PINNING_COMMAND, ['-c', '0', 'true'], { stdio: 'ignore' }).status === 0

function pinTo(core: Core): string[] {
  return isPinned ? [PINNING_COMMAND, '-c', CORE_NUMBERS[core]] : []
}

function moveProcess(pid: number, core: Core): void {
  raisePriority(pid)
  if (!isPinned) return
  const moving = ['--all-tasks', '--cpu-list', '--pid', CORE_NUMBERS[core], String(pid)]
  spawnSync(PINNING_COMMAND, moving, { stdio: 'ignore' })
}

/** Contestants inherit no credentials or proxy settings, so that they can only talk to the mock. */
function inheritedEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'TZ']
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

/** Needs root. Without it, other processes take more CPU time from the contestants. */
function raisePriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST)
    writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_HIGHEST))
  } catch {
    // The kernel has no autogroups, or this is not root.
  }
}

async function stopTree(started: StartedProcess): Promise<void> {
  const family = started.usage()?.pids ?? []
  if (!started.hasEnded()) started.child.kill('SIGTERM')
  const giveUpAtMs = performance.now() + STOP_MS_MAX
  while (performance.now() < giveUpAtMs) {
    if (started.hasEnded() && family.every((pid) => !isAlive(pid))) return
    await sleep(20)
  }
  for (const pid of family) killIfAlive(pid)
  if (!started.hasEnded()) started.child.kill('SIGKILL')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}
