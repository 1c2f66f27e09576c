import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { silentLogger } from '../../kernel/logger.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/start-embedded-postgres.ts'
import { migrate, MIGRATIONS_DIRECTORY } from '../migrate.ts'

const ROOT = join(import.meta.dirname, '../../..')
const CACHE = join(ROOT, 'node_modules/.cache/clusters')

/**
 * Puts a cluster with a migrated, empty database into a data directory that does not exist yet, or is empty. To copy it costs a
 * tenth of what it costs to make one.
 */
export async function placePreparedCluster(dataDir: string): Promise<void> {
  const prepared = await prepareCluster()
  // The server's user must be able to pass, as in a directory that the gateway makes.
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  await copy(join(prepared, 'postgres'), join(dataDir, 'postgres'))
}

/** Makes the cluster once for all runs with these migrations and this server. Returns its data directory. */
async function prepareCluster(): Promise<string> {
  const directory = join(CACHE, await nameContents())
  if (existsSync(directory)) return directory
  await mkdir(CACHE, { recursive: true, mode: 0o711 })
  const unfinished = await mkdtemp(`${directory}-`)
  const server = await startEmbeddedPostgres({ dataDir: unfinished, logger: silentLogger, durable: false })
  await migrate({ connectionString: server.connectionString, logger: silentLogger })
  await server.stop()
  await rename(unfinished, directory).catch((error: unknown) => {
    // Another process was faster.
    if (!existsSync(directory)) throw error
  })
  return directory
}

async function nameContents(): Promise<string> {
  const hash = createHash('sha256')
  hash.update(await readFile(join(ROOT, 'package-lock.json')))
  for (const name of (await readdir(MIGRATIONS_DIRECTORY)).sort())
    hash.update(name).update(await readFile(join(MIGRATIONS_DIRECTORY, name)))
  return hash.digest('hex').slice(0, 16)
}

/** Keeps the owner of the files, who is the server's user. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-Rp', basename(from), to], { cwd: dirname(from) })
}
