import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Type, type Static } from 'typebox'
import { Check } from 'typebox/value'
import { errorCodeOf, StorageError } from '../storage-error.ts'
import { readPidSpace, readProcessStartTime } from './process-identity.ts'

const HEARTBEAT_MS = 1_000
const OBSERVE_MS = 3 * HEARTBEAT_MS
const HEARTBEAT_AGE_MS_MAX = 60_000
const ATTEMPTS_MAX = 5

const Lock = Type.Object({
  token: Type.String(),
  pid: Type.Integer(),
  startTime: Type.String(),
  pidSpace: Type.String(),
})
type Lock = Static<typeof Lock>

export interface DirectoryClaim {
  release(): Promise<void>
}

/**
 * Makes this process the only gateway that uses the directory. Takes over the lock of a crashed gateway: its pid does not exist,
 * or belongs to a process with another start time.
 */
export async function claimDataDirectory(dataDir: string): Promise<DirectoryClaim> {
  const file = join(dataDir, 'gateway.lock')
  const lock: Lock = {
    token: randomUUID(),
    pid: process.pid,
    startTime: (await readProcessStartTime(process.pid)) ?? 'unknown',
    pidSpace: await readPidSpace(),
  }
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    if (await placeLock(file, lock)) return keepClaim(file, lock)
    const holder = await readLock(file)
    if (holder !== null && (await isHolderAlive(file, holder, lock.pidSpace))) throw inUse(dataDir, holder)
    await removeStaleLock(file, holder)
  }
  throw new StorageError(
    'in_use',
    `Several gateways are starting on ${dataDir} at once. Start one at a time.`,
  )
}

// Linking a complete file is atomic: no process reads a partial lock, and only one succeeds.
async function placeLock(file: string, lock: Lock): Promise<boolean> {
  const draft = `${file}.${lock.token}`
  await writeFile(draft, JSON.stringify(lock), { mode: 0o644 })
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function readLock(file: string): Promise<Lock | null> {
  try {
    const lock: unknown = JSON.parse(await readFile(file, 'utf8'))
    return Check(Lock, lock) ? lock : null
  } catch {
    return null
  }
}

async function isHolderAlive(file: string, holder: Lock, ownPidSpace: string): Promise<boolean> {
  if (holder.pidSpace === ownPidSpace) return (await readProcessStartTime(holder.pid)) === holder.startTime
  // A pid of another container or an earlier boot is meaningless here, so check the file's heartbeat instead.
  const before = await modifiedAtMs(file)
  if (before === null || Math.abs(Date.now() - before) > HEARTBEAT_AGE_MS_MAX) return false
  await delay(OBSERVE_MS)
  const after = await modifiedAtMs(file)
  return after !== null && after !== before
}

async function modifiedAtMs(file: string): Promise<number | null> {
  return stat(file).then(
    (found) => found.mtimeMs,
    () => null,
  )
}

// Rename the file and read it again, because another starting process may have replaced the stale lock meanwhile.
async function removeStaleLock(file: string, judged: Lock | null): Promise<void> {
  const aside = `${file}.stale.${randomUUID()}`
  try {
    await rename(file, aside)
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return
    throw error
  }
  const removed = await readLock(aside)
  if (removed !== null && removed.token !== judged?.token) await link(aside, file).catch(() => {})
  await rm(aside, { force: true })
}

function keepClaim(file: string, lock: Lock): DirectoryClaim {
  const heartbeat = setInterval(() => {
    const now = new Date()
    utimes(file, now, now).catch(() => {})
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return {
    async release() {
      clearInterval(heartbeat)
      if ((await readLock(file))?.token === lock.token) await rm(file, { force: true })
    },
  }
}

function inUse(dataDir: string, holder: Lock): StorageError {
  const who = holder.pid === process.pid ? 'This process' : `Another gateway (process ${holder.pid})`
  return new StorageError(
    'in_use',
    `${who} already uses ${dataDir}. Stop it first, or give this one its own PARKWAY_DATA_DIR, ` +
      'or let both share a server with DATABASE_URL.',
  )
}
