import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../src/kernel/logger.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { until } from '../app/call.ts'
import { readServerPid } from '../app/workplace.ts'

/** `fast` ends every session and writes everything down; `immediate` is a crash. */
export type StopMode = 'fast' | 'immediate'

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

export interface RestartablePostgres {
  readonly connectionString: string
  /** Resolves when the server is gone; it comes back under the same address by itself. */
  restart(mode: StopMode): Promise<void>
  /** Stays away until it is started. */
  stop(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** A server of its own, migrated. Durable, because what it has promised must survive a crash of it. */
export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parkway-restart-'))
  const launch = () => startEmbeddedPostgres({ dataDir, logger: silentLogger })
  let server: EmbeddedPostgres | null = await launch()
  const { connectionString } = server
  await migrate({ connectionString, logger: silentLogger })
  const stop = async () => {
    await server?.stop()
    server = null
  }
  return {
    connectionString,
    restart: async (mode) => {
      const pid = await until(() => readServerPid(dataDir))
      process.kill(pid, SIGNALS[mode])
      await until(() => readServerPid(dataDir) !== pid)
    },
    stop,
    start: async () => {
      server ??= await launch()
    },
    close: async () => {
      await stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
