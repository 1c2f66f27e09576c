import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { isReachableBy } from '../../src/kernel/system-user.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** A script that uses a data directory from its own process. */
export const OWNER_SCRIPT = new URL('./own-data-directory.ts', import.meta.url)

export const NOBODY = { uid: 65_534, gid: 65_534 }
export const isRoot = process.getuid?.() === 0
export const isLinux = process.platform === 'linux'
export const canRunAsNobody =
  isRoot &&
  (await isReachableBy(import.meta.dirname, NOBODY)) &&
  (await isReachableBy(join(process.execPath, '..'), NOBODY))

export interface FreshDirectory {
  parentDir: string
  /** Does not exist yet. */
  dataDir: string
  start(): Promise<EmbeddedPostgres>
}

/** Gives each test its own data directory. */
export function useFreshDirectory(): FreshDirectory {
  const fresh: FreshDirectory = {
    parentDir: '',
    dataDir: '',
    start: () => startEmbeddedPostgres({ dataDir: fresh.dataDir, logger: silentLogger, durable: false }),
  }
  beforeEach(async () => {
    fresh.parentDir = await mkdtemp(join(tmpdir(), 'parkway-'))
    await chmod(fresh.parentDir, 0o755)
    fresh.dataDir = join(fresh.parentDir, 'data')
  })
  afterEach(async () => {
    await removeDirectory(fresh.parentDir)
  })
  return fresh
}
