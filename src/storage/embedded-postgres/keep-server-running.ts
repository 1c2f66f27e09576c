import type { Logger } from '../../kernel/logger.ts'
import type { Cluster } from './cluster.ts'
import type { RunningPostgres } from './find-running-postgres.ts'
import { isServerProcess, signalProcess, stopPostmaster, type Postmaster } from './postmaster.ts'
import type { Endpoint } from './server-settings.ts'

const CHECK_MS = 500
const PAUSE_MS_MAX = 30_000

export interface KeepServerRunningOptions {
  readonly cluster: Cluster
  readonly postmaster: Postmaster
  readonly logger: Logger
  readonly relaunch: (endpoint: Endpoint) => Promise<RunningPostgres>
}

/**
 * Restarts the server at the same address when it dies, for example when it is killed for lack of memory. Polls the process,
 * because an adopted server is not our child and emits no exit event.
 */
export function keepServerRunning({ cluster, postmaster, logger, relaunch }: KeepServerRunningOptions) {
  let { pid } = postmaster
  let isStopping = false
  let failures = 0
  let timer = setTimeout(tick, CHECK_MS)
  timer.unref()
  let checking: Promise<void> = Promise.resolve()

  function tick(): void {
    checking = check().finally(() => {
      if (isStopping) return
      timer = setTimeout(tick, Math.min(CHECK_MS * 2 ** failures, PAUSE_MS_MAX))
      timer.unref()
    })
  }

  async function check(): Promise<void> {
    if (await isServerProcess(pid, cluster.dir)) return
    logger.error({ serverPid: pid }, 'database server died, starting it again')
    try {
      const running = await relaunch(postmaster.endpoint)
      pid = running.postmaster.pid
      failures = 0
    } catch (error) {
      failures += 1
      logger.error({ err: error }, 'database server did not start again')
    }
  }

  return {
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(timer)
      await checking
      await stopPostmaster(pid, cluster.dir)
    },

    signalStop(): void {
      isStopping = true
      clearTimeout(timer)
      signalProcess(pid, 'SIGINT')
    },
  }
}
