import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Logger } from '../../kernel/logger.ts'
import { errorCodeOf, messageOf, StorageError } from '../storage-error.ts'
import { claimDataDirectory } from './claim-data-directory.ts'
import type { Cluster } from './cluster.ts'
import { connectToCluster } from './find-running-postgres.ts'
import { initialiseCluster, noSpace } from './initialise-cluster.ts'
import { keepServerRunning } from './keep-server-running.ts'
import { launchServer } from './launch-server.ts'
import { locateBinaries } from './locate-binaries.ts'
import { chooseServerUser } from './server-user.ts'

export interface EmbeddedPostgresOptions {
  readonly dataDir: string
  readonly logger: Logger
  /** False trades safety against power loss for speed. For tests only. */
  readonly durable?: boolean
  /** Server settings that override those for a small machine. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface EmbeddedPostgres {
  readonly connectionString: string
  /** Whether the server was already running, because an earlier gateway was killed. */
  readonly adopted: boolean
  /** Stops the server with a fast shutdown, then releases the directory. */
  stop(): Promise<void>
  /** Sends the server a stop signal and does not wait. */
  signalStop(): void
}

/** Starts the PostgreSQL server of the data directory, or adopts it if it is running. Creates it on first use. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir)
  await prepareDirectory(dataDir)
  const claim = await claimDataDirectory(dataDir).catch(rethrowSystemError(dataDir))
  try {
    const server = await openServer({ ...options, dataDir })
    return {
      connectionString: server.connectionString,
      adopted: server.adopted,
      async stop() {
        await server.stop()
        await claim.release()
      },
      signalStop: () => server.signalStop(),
    }
  } catch (error) {
    await claim.release()
    return rethrowSystemError(dataDir)(error)
  }
}

async function openServer(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, logger, durable = true, settings = {} } = options
  const startedMs = performance.now()
  const dir = join(dataDir, 'postgres')
  const user = await chooseServerUser(dir)
  const cluster: Cluster = { dir, logFile: join(dataDir, 'postgres.log'), user }
  const binaries = await locateBinaries(dataDir, user)
  await initialiseCluster(cluster, binaries, durable)
  const found = await connectToCluster(dir)
  const running = found ?? (await launchServer({ cluster, binaries, durable, settings }))
  const elapsedMs = Math.round(performance.now() - startedMs)
  const serverPid = running.postmaster.pid
  logger.info({ serverPid, adopted: found !== null, elapsedMs }, 'database server is ready')
  const keeper = keepServerRunning({
    cluster,
    postmaster: running.postmaster,
    logger,
    relaunch: (endpoint) => launchServer({ cluster, binaries, durable, settings, endpoint }),
  })
  return { ...keeper, connectionString: running.connectionString, adopted: found !== null }
}

async function prepareDirectory(dataDir: string): Promise<void> {
  try {
    // A directory of root must allow the server's user to pass. A directory of an ordinary user stays private.
    await makeDirectories(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700)
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    rethrowSystemError(dataDir)(error)
  }
}

// Create the directories one by one, because the recursive form hangs below a directory that refuses children, such as /proc.
async function makeDirectories(dir: string, mode: number): Promise<void> {
  if ((await stat(dir).catch(() => null))?.isDirectory() === true) return
  if (dirname(dir) !== dir) await makeDirectories(dirname(dir), mode)
  await mkdir(dir, { mode }).catch((error: unknown) => {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  })
}

const UNWRITABLE_CODES = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EEXIST',
  'ENOENT',
  'ELOOP',
  'ENAMETOOLONG',
])

function rethrowSystemError(dataDir: string): (error: unknown) => never {
  return (error) => {
    const code = errorCodeOf(error)
    if (error instanceof StorageError || code === null) throw error
    if (code === 'ENOSPC' || code === 'EDQUOT') throw noSpace(dataDir, messageOf(error), error)
    if (!UNWRITABLE_CODES.has(code)) throw error
    throw new StorageError(
      'not_writable',
      `The data directory ${dataDir} cannot be used: ${messageOf(error)}. Make it a directory that user ` +
        `${process.getuid?.() ?? ''} may write to, or choose another PARKWAY_DATA_DIR.`,
      { cause: error },
    )
  }
}
