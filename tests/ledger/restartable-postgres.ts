import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../src/kernel/logger.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { placePreparedCluster } from '../../src/storage/testing/prepared-cluster.ts'
import { until } from '../app/call.ts'
import { readServerPid } from '../app/workplace.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** `fast` ends every session and flushes all data to disk; `immediate` is like a crash. */
export type StopMode = 'fast' | 'immediate'

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

export interface RestartablePostgres {
  readonly connectionString: string
  /** Resolves when the server has stopped; it then starts again by itself under the same address. */
  restart(mode: StopMode): Promise<void>
  /** Stops the server until `start` is called. */
  stop(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Starts a separate, migrated server. It is durable, because committed data must survive a crash of the server. */
export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parkway-restart-'))
  await placePreparedCluster(dataDir)
  const launch = () => startEmbeddedPostgres({ dataDir, logger: silentLogger })
  let server: EmbeddedPostgres | null = await launch()
  const { connectionString } = server
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
      await removeDirectory(dataDir)
    },
  }
}
