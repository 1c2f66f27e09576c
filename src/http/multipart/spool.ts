import { createHash, randomUUID, type Hash } from 'node:crypto'
import { mkdir, open, readdir, rm, stat, unlink, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '../../kernel/logger.ts'

/** Stores uploads on disk while their requests run. */
export interface Spool {
  create(): Promise<SpooledFile>
  remove(paths: readonly string[]): Promise<void>
  /** May be called only after all requests have ended. */
  close(): Promise<void>
}

export interface SpooledFile {
  readonly path: string
  readonly bytes: number
  write(chunk: Uint8Array): Promise<void>
  /** Returns the SHA-256 of the written bytes. */
  close(): Promise<string>
}

interface SpoolOptions {
  /** Each process creates its own directory in it. */
  readonly parentDirectory: string
  readonly logger: Logger
}

const PREFIX = 'parkway-uploads'
/** No request runs this long, so older files are left over, even if their process id is in use again. */
const AGE_MS_MAX = 25 * 60 * 60_000
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

/** Creates the spool. Also deletes files that killed processes have left. */
export function createSpool({ parentDirectory, logger }: SpoolOptions): Spool {
  const name = `${PREFIX}-${HOST}-${process.pid}-${randomUUID()}`
  const directory = join(parentDirectory, name)
  const swept = sweepLeftovers(parentDirectory, name).catch((error: unknown) => {
    logger.warn({ err: error }, 'uploads that killed processes left were not removed')
  })

  return {
    create: async () => {
      const path = join(directory, randomUUID())
      return new OpenFile(path, await openIn(directory, path))
    },
    remove: async (paths) => {
      const removals = await Promise.allSettled(paths.map((path) => unlink(path)))
      for (const removal of removals)
        if (removal.status === 'rejected' && !isMissing(removal.reason))
          logger.warn({ err: removal.reason }, 'an upload was not removed')
    },
    close: async () => {
      await swept
      await rm(directory, { recursive: true, force: true })
    },
  }
}

class OpenFile implements SpooledFile {
  readonly path: string
  bytes = 0
  readonly #handle: FileHandle
  readonly #hash: Hash = createHash('sha256')

  constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk)
    for (let offset = 0; offset < chunk.length;) {
      const { bytesWritten } = await this.#handle.write(chunk, offset)
      offset += bytesWritten
    }
    this.bytes += chunk.length
  }

  async close(): Promise<string> {
    await this.#handle.close()
    return this.#hash.digest('hex')
  }
}

// The directory is created by the first upload, and again if it was deleted meanwhile.
async function openIn(directory: string, path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    if (!isMissing(error)) throw error
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return open(path, 'wx', 0o600)
  }
}

async function sweepLeftovers(parentDirectory: string, ownName: string): Promise<void> {
  const names = await readdir(parentDirectory).catch(() => [])
  for (const name of names) {
    if (name === ownName || !name.startsWith(`${PREFIX}-`)) continue
    const path = join(parentDirectory, name)
    if (await isLeftover(name, path)) await rm(path, { recursive: true, force: true })
  }
}

async function isLeftover(name: string, path: string): Promise<boolean> {
  const [, host, pid] = /^parkway-uploads-([0-9a-f]{8})-(\d+)-/.exec(name) ?? []
  if (host === HOST && !isRunning(Number(pid))) return true
  const found = await stat(path).catch(() => null)
  return found !== null && Date.now() - found.mtimeMs > AGE_MS_MAX
}

// In a container every start has the same process id, so another directory with our id belongs to an earlier run.
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
