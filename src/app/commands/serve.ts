import type { GatewayLogger } from '../../telemetry/logger.ts'
import { announce } from '../announce.ts'
import type { Config } from '../config.ts'
import { createProcessLogger } from '../create-process-logger.ts'
import { exitOnDefect } from '../exit-on-defect.ts'
import { openStorage, type OpenStorage } from '../open-storage.ts'
import { readServeConfig, SERVE_FLAGS_USAGE } from '../read-serve-config.ts'
import { stopRequested } from '../stop-requested.ts'
import type { Command } from './command.ts'

/** Starts the gateway and runs it until it is told to stop. */
export const serve: Command = {
  usage: `serve ${SERVE_FLAGS_USAGE}`,
  summary: 'Run the gateway.',
  async run(words) {
    const config = readServeConfig(words)
    const logger = createProcessLogger(config)
    exitOnDefect(logger)
    const running: { storage?: OpenStorage; gateway?: StartedGateway } = {}
    const stop = stopRequested({
      onImpatience: () => {
        running.gateway?.abandon()
        running.storage?.abandon()
      },
    })
    let isStopping = false
    void stop.then(() => {
      isStopping = true
    })
    const storage = await openStorage(config, logger)
    running.storage = storage
    try {
      const gateway = await startGateway(config, storage.connectionString, logger)
      running.gateway = gateway
      process.stdout.write(announce({ ...gateway, config, startMs: performance.now() }))
      await stop
      logger.info({}, 'stopping: running requests may finish')
      await gateway.close()
      return 0
    } catch (error) {
      // A start that is interrupted ends in many ways, none of which is news.
      if (isStopping) return 0
      throw error
    } finally {
      await storage.close()
      await logger.flush()
    }
  },
}

interface StartedGateway {
  readonly url: string
  readonly bootstrapKey: string | null
  close(): Promise<void>
  /** Ends at once what a mere exit of this process would not end. */
  abandon(): void
}

// Each is loaded only where it runs: a supervisor that carries the whole gateway starts later and takes more memory.
async function startGateway(
  config: Config,
  connectionString: string,
  logger: GatewayLogger,
): Promise<StartedGateway> {
  if (config.processes > 1) {
    const { startProcesses } = await import('../supervise.ts')
    return startProcesses({ config, connectionString, logger })
  }
  const { composeGateway } = await import('../compose.ts')
  const gateway = await composeGateway({ config, connectionString, logger })
  return { ...gateway, abandon: () => {} }
}
