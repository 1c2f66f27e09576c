import { readdir, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StorageError } from '../storage-error.ts'
import { readOwned } from './owned-file.ts'
import { readProcessStartTime } from './process-identity.ts'
import type { Endpoint } from './server-settings.ts'

/** The content of the server's `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number
  readonly endpoint: Endpoint
  readonly isReady: boolean
}

const POLL_MS = 10
const FAST_SHUTDOWN_MS_MAX = 30_000
const IMMEDIATE_SHUTDOWN_MS_MAX = 10_000
const ORPHANS_EXIT_MS_MAX = 10_000

/** Returns the running server of the cluster, or null. Ignores the file of a dead server. */
export async function readPostmaster(clusterDir: string): Promise<Postmaster | null> {
  const text = await readOwned(join(clusterDir, 'postmaster.pid')).catch(() => '')
  const [pidText, , , portText, socketDir, , , status] = text.split('\n').map((line) => line.trim())
  const pid = Number(pidText)
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  if (!(await isServerProcess(pid, clusterDir))) return null
  const endpoint: Endpoint = socketDir ? { kind: 'socket' } : { kind: 'loopback', port: Number(portText) }
  return { pid, endpoint, isReady: status === 'ready' }
}

/** Stops the server with a fast shutdown: sessions are closed, and all commits are checkpointed. */
export async function stopPostmaster(pid: number, clusterDir: string): Promise<void> {
  signalProcess(pid, 'SIGINT')
  if (await waitForExit(pid, clusterDir, FAST_SHUTDOWN_MS_MAX)) return
  // An immediate shutdown loses no commits, because the next start replays the log.
  signalProcess(pid, 'SIGQUIT')
  if (await waitForExit(pid, clusterDir, IMMEDIATE_SHUTDOWN_MS_MAX)) return
  throw new StorageError('start_failed', `The database server (process ${pid}) does not stop.`)
}

/**
 * Removes `postmaster.pid` of a dead server, because PostgreSQL would take any process with that pid for a server, and containers
 * reuse the same few pids. Waits first until the children of a killed server have exited.
 */
export async function clearStalePostmaster(clusterDir: string): Promise<void> {
  if (process.platform !== 'linux') return
  const deadlineMs = performance.now() + ORPHANS_EXIT_MS_MAX
  while (await hasServerProcesses(clusterDir)) {
    if (performance.now() > deadlineMs) {
      throw new StorageError(
        'in_use',
        `Processes of a killed PostgreSQL still use ${clusterDir}. Stop them first.`,
      )
    }
    await delay(POLL_MS)
  }
  await rm(join(clusterDir, 'postmaster.pid'), { force: true })
}

export async function isServerProcess(pid: number, clusterDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return (await readProcessStartTime(pid)) !== null
  // All processes of a server have the cluster as their working directory, so a reused pid is recognised.
  const workingDir = await readlink(`/proc/${pid}/cwd`).catch(() => null)
  return workingDir !== null && workingDir === (await realpath(clusterDir).catch(() => null))
}

async function hasServerProcesses(clusterDir: string): Promise<boolean> {
  const names = await readdir('/proc')
  const pids = names.map(Number).filter((pid) => Number.isSafeInteger(pid) && pid !== process.pid)
  const found = await Promise.all(pids.map((pid) => isServerProcess(pid, clusterDir)))
  return found.includes(true)
}

async function waitForExit(pid: number, clusterDir: string, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs
  while (await isServerProcess(pid, clusterDir)) {
    if (performance.now() > deadlineMs) return false
    await delay(POLL_MS)
  }
  return true
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already exited.
  }
}
