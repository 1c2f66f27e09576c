import { parseArgs } from 'node:util'
import { createLogger, type GatewayLogger } from '../../telemetry/logger.ts'
import { announce } from '../announce.ts'
import { composeGateway } from '../compose.ts'
import { loadConfig, type Config } from '../config.ts'
import { openStorage } from '../open-storage.ts'
import { startProcesses } from '../supervise.ts'
import { stopRequested } from '../stop-requested.ts'
import type { Command } from './command.ts'

/** Starts the gateway and runs it until it is told to stop. */
export const serve: Command = {
  usage: 'serve [--port N] [--host H] [--processes N] [--config FILE]',
  summary: 'Run the gateway.',
  async run(words) {
    const config = readConfig(words)
    const logger = createLogger({
      level: config.logLevel,
      logPrompts: config.logPrompts,
      isPretty: process.stdout.isTTY,
    })
    const stop = stopRequested()
    const storage = await openStorage(config, logger)
    try {
      const gateway = await startGateway(config, storage.connectionString, logger)
      const startMs = performance.now()
      process.stdout.write(announce({ ...gateway, startMs, providers: [...config.providers.keys()] }))
      const exitCode = await Promise.race([stop, gateway.failed])
      logger.info({}, 'stopping: running requests may finish')
      await gateway.close()
      return exitCode
    } finally {
      await storage.close()
      await logger.flush()
    }
  },
}

interface StartedGateway {
  readonly url: string
  readonly bootstrapKey: string | null
  /** Resolves with an exit code when it cannot go on. */
  readonly failed: Promise<number>
  close(): Promise<void>
}

async function startGateway(
  config: Config,
  connectionString: string,
  logger: GatewayLogger,
): Promise<StartedGateway> {
  if (config.processes > 1) return startProcesses({ config, connectionString, logger })
  const gateway = await composeGateway({ config, connectionString, logger })
  return { ...gateway, failed: new Promise(() => {}) }
}

function readConfig(words: readonly string[]): Config {
  const { values } = parseArgs({
    args: [...words],
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      processes: { type: 'string' },
      config: { type: 'string' },
    },
  })
  const { config: file = null, ...flags } = values
  return loadConfig({ environment: process.env, flags, file })
}
