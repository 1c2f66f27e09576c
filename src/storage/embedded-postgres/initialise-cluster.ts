import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { lchown, mkdir, open, readdir, rename, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCodeOf, StorageError } from '../storage-error.ts'
import { nameForServer, PASSWORD_FILE, ROLE, type Cluster } from './cluster.ts'
import type { Binaries } from './locate-binaries.ts'
import { readOwned, writeOwned } from './owned-file.ts'

const FREE_BYTES_MIN = 128 * 1024 * 1024
const OUTPUT_CHARACTERS_MAX = 4_000
const TIMEOUT_MS = 120_000

/** Creates the cluster on first use. An existing one must be ours, complete, and of the same major version. */
export async function initialiseCluster(
  cluster: Cluster,
  binaries: Binaries,
  durable: boolean,
): Promise<void> {
  if (await holdsCluster(cluster, binaries)) return
  await requireFreeSpace(dirname(cluster.dir))
  // Build it under another name and rename it when it is complete, so that a crash cannot leave a partial cluster.
  const draft = `${cluster.dir}.initialising`
  const passwordFile = `${draft}.password`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  await rm(passwordFile, { force: true })
  await writeOwned(passwordFile, randomBytes(24).toString('base64url'), cluster.user)
  if (cluster.user) await lchown(draft, cluster.user.uid, cluster.user.gid)
  await runInitdb({ draft, passwordFile, cluster, binaries, durable })
  await rename(passwordFile, join(draft, PASSWORD_FILE))
  await rename(draft, cluster.dir)
  if (durable) await syncDirectory(dirname(cluster.dir))
}

async function holdsCluster({ dir, user }: Cluster, binaries: Binaries): Promise<boolean> {
  const found = await stat(dir).catch(() => null)
  if (found === null) return false
  const uid = user?.uid ?? process.getuid?.()
  if (uid !== undefined && found.uid !== uid && !(user && found.uid === 0)) {
    throw new StorageError(
      'wrong_owner',
      `${dir} belongs to another user (uid ${found.uid}, this is ${uid}). Start the gateway as that user or as root, ` +
        `give the directory away with "chown -R ${uid} ${dir}", or choose another PARKWAY_DATA_DIR.`,
    )
  }
  const version = await readOwned(join(dir, 'PG_VERSION')).catch(() => null)
  if (version === null) {
    if ((await readdir(dir)).length > 0) {
      throw new StorageError(
        'foreign_directory',
        `${dir} holds files that are not a PostgreSQL cluster. Move them away or choose another PARKWAY_DATA_DIR.`,
      )
    }
    await rmdir(dir)
    return false
  }
  if (version.trim() !== binaries.majorVersion) {
    throw new StorageError(
      'version_mismatch',
      `${dir} was made by PostgreSQL ${version.trim()}, this gateway brings ${binaries.majorVersion}. Start the release ` +
        'that made it, run "parkway backup", move the directory away, then run "parkway restore" with this release.',
    )
  }
  return true
}

async function requireFreeSpace(dir: string): Promise<void> {
  const space = await statfs(dir)
  const freeBytes = space.bavail * space.bsize
  if (freeBytes < FREE_BYTES_MIN)
    throw noSpace(dir, `${Math.floor(freeBytes / 1024 / 1024)} MB are free, 128 MB are needed`)
}

export function noSpace(dir: string, detail: string, cause?: unknown): StorageError {
  return new StorageError(
    'no_space',
    `No space left for the database in ${dir} (${detail}). Free some space or choose another PARKWAY_DATA_DIR.`,
    { cause },
  )
}

interface InitdbOptions {
  draft: string
  passwordFile: string
  cluster: Cluster
  binaries: Binaries
  durable: boolean
}

async function runInitdb({ draft, passwordFile, cluster, binaries, durable }: InitdbOptions): Promise<void> {
  const dir = await nameForServer(draft, cluster.user)
  if (dir === null) throw notReachable(cluster)
  const options = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions']
  // The password is random and long, so that repeating its hash protects nothing; each new connection would wait for it.
  options.push('--set', 'scram_iterations=1')
  // The built-in provider sorts the same everywhere, while the locales of the system change with its C library.
  options.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  if (!durable) options.push('--no-sync')
  // Passed as an open file, because the server's user may not be able to open it by path.
  const password = await open(passwordFile, 'r')
  try {
    const child = spawn(binaries.initdb, ['-D', dir, '-U', ROLE, '--pwfile=/dev/stdin', ...options], {
      cwd: draft,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      stdio: [password.fd, 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      ...cluster.user,
    })
    let output = ''
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX)
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (exitCode !== 0) throw initdbFailed(cluster, output)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    await rm(passwordFile, { force: true })
    if (errorCodeOf(error) === 'ENOENT') {
      throw new StorageError('binaries_missing', `${binaries.initdb} cannot be run on this system.`, {
        cause: error,
      })
    }
    throw error
  } finally {
    await password.close()
  }
}

function initdbFailed(cluster: Cluster, output: string): StorageError {
  if (/no space left/i.test(output)) return noSpace(dirname(cluster.dir), 'while the cluster was made')
  if (/could not look up effective user/i.test(output)) {
    return new StorageError(
      'start_failed',
      `User ${process.getuid?.()} has no entry in /etc/passwd, which PostgreSQL requires. Add one, run as another user, ` +
        'or set DATABASE_URL.',
    )
  }
  return new StorageError(
    'start_failed',
    `The database could not be initialised in ${cluster.dir}:\n${output.trim()}`,
  )
}

export function notReachable(cluster: Cluster): StorageError {
  return new StorageError(
    'not_reachable',
    `PostgreSQL does not run as root, and the user it runs as (uid ${cluster.user?.uid}) cannot enter ` +
      `${dirname(cluster.dir)}. Choose a PARKWAY_DATA_DIR that every user can reach, such as /var/lib/parkway, ` +
      'or run the gateway as an ordinary user.',
  )
}

async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
