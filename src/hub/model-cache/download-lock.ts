import { randomUUID } from 'node:crypto'
import { link, lstat, readFile, rename, unlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { hasCode, ignoreMissing } from './cache-directory.ts'

export interface HeldLock {
  /** Whether another process has taken the lock because this one did not refresh it in time. */
  readonly isLost: boolean
}

interface LockOptions {
  readonly cancellation?: Cancellation | undefined
  /** Called at every poll while another process holds the lock. */
  readonly onWait?: () => Promise<void>
}

const POLL_MS = 200
const BEAT_MS = 5_000
/** A lock that was not refreshed for this long is abandoned: its process has died on another machine. */
const SILENT_MS = 60_000

/** Runs `work` while holding a lock file. Only one of the processes that share the directory holds it at a time. */
export async function withLock(
  path: string,
  options: LockOptions,
  work: (lock: HeldLock) => Promise<void>,
): Promise<void> {
  const text = await describeHolder({})
  await takeLock(path, text, options)
  const lock = { isLost: false }
  const beat = setInterval(() => {
    void keepAlive(path, text).then((isKept) => {
      if (!isKept) lock.isLost = true
    })
  }, BEAT_MS)
  try {
    await work(lock)
  } finally {
    clearInterval(beat)
    if ((await readText(path)) === text) await unlink(path).catch(ignoreMissing)
  }
}

async function takeLock(path: string, text: string, { cancellation, onWait }: LockOptions): Promise<void> {
  let seen: { text: string; mtimeMs: number; atMs: number } | null = null
  for (;;) {
    cancellation?.throwIfCancelled()
    if (await create(path, text)) return
    const [holder, stat] = [await readText(path), await lstat(path).catch(ignoreMissing)]
    if (holder === null || stat === null) continue
    const isSame = seen !== null && seen.text === holder && seen.mtimeMs === stat.mtimeMs
    if (!isSame) seen = { text: holder, mtimeMs: stat.mtimeMs, atMs: performance.now() }
    const isSilent = seen !== null && performance.now() - seen.atMs > SILENT_MS
    if (isSilent || (await isDead(holder))) {
      await takeAway(path, holder)
      continue
    }
    await onWait?.()
    await wait(POLL_MS, undefined, cancellation === undefined ? {} : { signal: cancellation.signal }).catch(
      () => {},
    )
  }
}

/** Creates the lock file by linking a complete draft, so that no process reads half of it. Returns false if it exists. */
async function create(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 })
    await link(draft, path)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await unlink(draft).catch(ignoreMissing)
  }
}

/** Removes an abandoned lock. If another process has replaced it meanwhile, the new lock was moved by mistake and is put back. */
async function takeAway(path: string, holder: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch (error) {
    ignoreMissing(error)
    return
  }
  if ((await readText(aside)) !== holder)
    await link(aside, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
  await unlink(aside)
}

async function keepAlive(path: string, text: string): Promise<boolean> {
  try {
    if ((await readText(path)) !== text) return false
    const now = new Date()
    await utimes(path, now, now)
    return true
  } catch {
    return false
  }
}

async function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(ignoreMissing)
}

/** Returns the content of a lock file: it identifies this process. */
export async function describeHolder(details: object): Promise<string> {
  const { pid } = process
  return JSON.stringify({ id: randomUUID(), pid, host: hostname(), since: await startOf(pid), ...details })
}

/**
 * Returns whether the holder is a dead process of this machine, or cannot be parsed. Dead processes of other machines are found
 * by the age of their last refresh.
 */
export async function isDead(holder: string): Promise<boolean> {
  const told = parseHolder(holder)
  if (told === null) return true
  if (told.host !== hostname()) return false
  const since = await startOf(told.pid)
  if (since !== null) return since !== told.since
  try {
    process.kill(told.pid, 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}

function parseHolder(text: string): { pid: number; host: string; since: string | null } | null {
  try {
    const told: unknown = JSON.parse(text)
    if (!isRecord(told) || typeof told['host'] !== 'string' || typeof told['pid'] !== 'number') return null
    const { pid, host, since } = told
    if (!Number.isSafeInteger(pid) || pid <= 0) return null
    return { pid, host, since: typeof since === 'string' ? since : null }
  } catch {
    return null
  }
}

/** Returns the start time of a process in kernel ticks, which tells it from a later process with the same pid. Linux only. */
async function startOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // The program name is in parentheses and may contain any character.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
