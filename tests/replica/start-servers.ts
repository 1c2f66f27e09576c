import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, cp, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { silentLogger } from '../../src/kernel/logger.ts'
import { PASSWORD_FILE, ROLE } from '../../src/storage/embedded-postgres/cluster.ts'
import { locateBinaries } from '../../src/storage/embedded-postgres/locate-binaries.ts'
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { eventually } from '../support/eventually.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const SETTINGS = { wal_level: 'replica', max_wal_senders: '4', hot_standby: 'on', wal_keep_size: '256MB' }

export interface Servers {
  readonly primary: string
  readonly standby: string
  /** Lets the standby receive without applying. */
  pause(): Promise<void>
  resume(): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Starts a PostgreSQL and a standby that streams from it. */
export async function startServers(): Promise<Servers> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-replica-'))
  await chmod(directory, 0o755)
  const dataDir = join(directory, 'primary')
  const options = { dataDir, logger: silentLogger, durable: false, settings: SETTINGS }
  const first = await startEmbeddedPostgres(options)
  await migrate({ connectionString: first.connectionString, logger: silentLogger })
  // A copy of a stopped server is a base backup.
  await first.stop()
  const source = join(dataDir, 'postgres')
  const target = join(directory, 'standby')
  await cp(source, target, { recursive: true, preserveTimestamps: true })
  const { uid, gid } = await stat(source)
  await giveTo(target, { uid, gid })
  const password = (await readFile(join(source, PASSWORD_FILE), 'utf8')).trim()
  const follow = `host=${source} port=5432 user=${ROLE} password=${password}`
  await writeFile(join(target, 'standby.signal'), '')
  await appendFile(join(target, 'postgresql.conf'), `\nprimary_conninfo = '${follow}'\n`)
  const primary = await startEmbeddedPostgres(options)
  const standby = first.connectionString
    .replaceAll(encodeURIComponent(source), encodeURIComponent(target))
    .replaceAll(source, target)
  const owner = process.getuid?.() === 0 ? { uid, gid } : null
  const { postgres } = await locateBinaries(dataDir, owner)
  let child: ChildProcess | null = null
  const ask = async (sql: string): Promise<void> => {
    const client = new Client({ connectionString: standby })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  const start = async (): Promise<void> => {
    child = spawn(postgres, ['-D', target], {
      cwd: target,
      stdio: 'ignore',
      env: { LC_ALL: 'C', TZ: 'UTC' },
      ...owner,
    })
    await eventually(() => ask('SELECT 1'))
  }
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null) return
    const ended = once(child, 'exit')
    // An immediate shutdown: its children end with it, and it recovers at its next start.
    child.kill('SIGQUIT')
    await ended
    child = null
  }
  await start()
  return {
    primary: primary.connectionString,
    standby,
    pause: () => ask('SELECT pg_wal_replay_pause()'),
    resume: () => ask('SELECT pg_wal_replay_resume()'),
    kill,
    start,
    close: async () => {
      await kill()
      await primary.stop()
      await removeDirectory(directory)
    },
  }
}

/** Only root may give files away, and only then they belong to another user. */
async function giveTo(path: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  if (process.getuid?.() !== 0) return
  const changing = spawn('chown', ['-R', `${uid}:${gid}`, path], { stdio: 'ignore' })
  await once(changing, 'exit')
}
