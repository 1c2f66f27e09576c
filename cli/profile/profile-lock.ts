import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

const POLL_MS = 50
const WAIT_MS_MAX = 20_000
/** A process that was killed leaves its lock behind. Nothing under the lock takes as long. */
const STALE_MS = 30_000

/** Runs work that one process at a time may do with the file of profiles. */
export async function withProfileLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${path}.lock`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const deadlineMs = Date.now() + WAIT_MS_MAX
  while (!take(lock)) {
    if (Date.now() > deadlineMs)
      throw new CommandFailure(EXIT.failed, `Another process holds ${lock}.`, 'Delete it if there is none.')
    await delay(POLL_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > STALE_MS) rmSync(lock, { force: true })
    return false
  }
}
