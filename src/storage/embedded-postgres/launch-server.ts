import { spawn, type ChildProcess } from 'node:child_process'
import { lstat, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StorageError } from '../storage-error.ts'
import { nameForServer, type Cluster } from './cluster.ts'
import { connectToCluster, type RunningPostgres } from './find-running-postgres.ts'
import { noSpace, notReachable } from './initialise-cluster.ts'
import type { Binaries } from './locate-binaries.ts'
import { APPEND, openOwned, writeOwned } from './owned-file.ts'
import { clearStalePostmaster, readPostmaster } from './postmaster.ts'
import { fitsSocket, renderSettings, type Endpoint } from './server-settings.ts'

const LOG_BYTES_MAX = 10 * 1024 * 1024
const LOG_TAIL_BYTES = 4_096
const ATTEMPTS_MAX = 3
const POLL_MS = 10
const START_TIMEOUT_MS = 120_000

export interface LaunchOptions {
  readonly cluster: Cluster
  readonly binaries: Binaries
  readonly durable: boolean
  readonly settings: Readonly<Record<string, string>>
  /** The previous endpoint of the server, so that a restart keeps the address. */
  readonly endpoint?: Endpoint
}

/** Starts the server of a stopped cluster. Returns when it answers. */
export async function launchServer(options: LaunchOptions): Promise<RunningPostgres> {
  const { cluster } = options
  let endpoint = options.endpoint ?? (fitsSocket(cluster.dir) ? SOCKET : await chooseLoopback())
  let failure = ''
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    if (await hasPostmasterFile(cluster.dir)) await clearStalePostmaster(cluster.dir)
    const outcome = await tryLaunch(options, endpoint)
    if (outcome.running) return outcome.running
    failure = outcome.failure
    // Some file systems do not support sockets, and a free port may be taken before the server binds it.
    const isAddressTrouble = /could not (create|bind|listen)|no free|address already in use/i.test(failure)
    if (!isAddressTrouble || options.endpoint) break
    endpoint = await chooseLoopback()
  }
  if (/no space left/i.test(failure))
    throw noSpace(dirname(cluster.dir), 'PostgreSQL could not write its files')
  throw new StorageError(
    'start_failed',
    `PostgreSQL did not start on ${cluster.dir}. Its log ends with:\n${failure.trim()}`,
  )
}

const SOCKET: Endpoint = { kind: 'socket' }

type Outcome = { running: RunningPostgres; failure?: never } | { running: null; failure: string }

async function tryLaunch(
  { cluster, binaries, durable, settings }: LaunchOptions,
  endpoint: Endpoint,
): Promise<Outcome> {
  const dir = await nameForServer(cluster.dir, cluster.user)
  if (dir === null) throw notReachable(cluster)
  await writeOwned(
    join(cluster.dir, 'postgresql.conf'),
    renderSettings({ endpoint, durable, overrides: settings }),
    cluster.user,
  )
  const log = await openLog(cluster)
  try {
    const { size: logStart } = await log.stat()
    const child = spawn(binaries.postgres, ['-D', dir], {
      cwd: cluster.dir,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      // Detached from the terminal's process group, so that on an interrupt the gateway drains before the server stops.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      ...cluster.user,
    })
    child.unref()
    const hasStarted = await waitUntilReady(child, cluster.dir)
    const running = hasStarted ? await connectToCluster(cluster.dir) : null
    return running ? { running } : { running: null, failure: await readLogTail(log, logStart) }
  } finally {
    await log.close()
  }
}

async function waitUntilReady(child: ChildProcess, clusterDir: string): Promise<boolean> {
  const failed = new AbortController()
  child.once('error', () => failed.abort())
  child.once('exit', () => failed.abort())
  const deadlineMs = performance.now() + START_TIMEOUT_MS
  while (!failed.signal.aborted && performance.now() < deadlineMs) {
    const postmaster = await readPostmaster(clusterDir)
    if (postmaster?.isReady && postmaster.pid === child.pid) return true
    await delay(POLL_MS)
  }
  return false
}

async function chooseLoopback(): Promise<Endpoint> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve({ kind: 'loopback', port }))
    })
  })
}

async function hasPostmasterFile(clusterDir: string): Promise<boolean> {
  return (await stat(join(clusterDir, 'postmaster.pid')).catch(() => null)) !== null
}

async function openLog(cluster: Cluster): Promise<FileHandle> {
  const found = await lstat(cluster.logFile).catch(() => null)
  if (found !== null && found.size > LOG_BYTES_MAX) {
    await rm(`${cluster.logFile}.1`, { force: true })
    await rename(cluster.logFile, `${cluster.logFile}.1`)
  }
  return openOwned(cluster.logFile, APPEND, cluster.user)
}

async function readLogTail(log: FileHandle, from: number): Promise<string> {
  const { size } = await log.stat()
  const start = Math.max(from, size - LOG_TAIL_BYTES)
  const { buffer, bytesRead } = await log.read(Buffer.alloc(LOG_TAIL_BYTES), 0, LOG_TAIL_BYTES, start)
  return buffer.toString('utf8', 0, bytesRead)
}
