import type { GatewayLogger } from '../../telemetry/logger.ts'
import { createFirstKeyPrinter } from '../report/print-first-key.ts'
import { announce } from '../report/announce.ts'
import type { Config } from '../settings/config.ts'
import { createProcessLogger } from '../process/create-process-logger.ts'
import { exitOnDefect } from '../process/exit-on-defect.ts'
import type { FirstKey, ReadyGateway } from '../process/process-messages.ts'
import { openStorage, type OpenStorage } from '../process/open-storage.ts'
import { readServeConfig, SERVE_FLAGS_USAGE, SERVE_OPTIONS } from '../settings/read-serve-config.ts'
import type { Command } from './command.ts'

/** Starts the gateway and runs it until it is stopped. */
export const serve: Command = {
  usage: `serve ${SERVE_FLAGS_USAGE}`,
  options: SERVE_OPTIONS,
  async run(words) {
    const config = readServeConfig(words)
    const logger = createProcessLogger(config)
    exitOnDefect(logger)
    let storage: OpenStorage | null = null
    let gateway: PreparedGateway | null = null
    let isStopping = false
    const firstKey = createFirstKeyPrinter(printForPeople, config.bootstrapKey)
    const stop = stopRequested({
      onImpatience: () => {
        gateway?.abandon()
        storage?.abandon()
      },
    }).then(() => {
      isStopping = true
    })
    try {
      gateway = await prepareGateway(config, logger, (key) => firstKey.note(key))
      storage = await openStorage(config, logger)
      const ready = await gateway.start(storage.connectionString)
      printForPeople(announce({ ...ready, config, startMs: performance.now() }))
      // The announcement of a worker names no key.
      firstKey.announced(config.role === 'worker' ? { bootstrapKey: null } : ready)
      await stop
      logger.info({}, 'stopping: running requests may finish')
      await gateway.close()
      return 0
    } catch (error) {
      gateway?.abandon()
      firstKey.print()
      // Ignore errors of an interrupted start.
      if (isStopping) return 0
      throw error
    } finally {
      await storage?.close()
      // A log output that is closed does not make the shutdown a failure.
      await logger.flush().catch(() => {})
    }
  },
}

/** A gateway that loads while the storage is opened. */
interface PreparedGateway {
  start(connectionString: string): Promise<ReadyGateway>
  close(): Promise<void>
  /** Immediately stops child processes, which would outlive this process. */
  abandon(): void
}

// Load only what is needed, because a supervisor with the whole gateway would start later and use more memory.
async function prepareGateway(
  config: Config,
  logger: GatewayLogger,
  onFirstKey: (key: FirstKey) => void,
): Promise<PreparedGateway> {
  if (config.processes > 1) {
    const { Supervisor } = await import('../process/supervisor.ts')
    return new Supervisor({ config, logger, onFirstKey })
  }
  const { loadGateway } = await import('../process/load-gateway.ts')
  const loading = loadGateway()
  let gateway: (ReadyGateway & { close(): Promise<void> }) | null = null
  return {
    start: async (connectionString) => {
      const composeGateway = await loading
      gateway = await composeGateway({ config, connectionString, logger, onFirstKey })
      return gateway
    },
    close: async () => gateway?.close(),
    abandon: () => {},
  }
}

const SIGNAL_EXIT_CODE = 130
/**
 * Signals within this time count as one, because npm and timeout(1) forward a signal that the process group has already received.
 */
const REPEAT_MS = 1_000

/** Resolves on the first stop signal. A later one exits immediately. */
function stopRequested({ onImpatience }: { onImpatience: () => void }): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | null = null
    const stop = () => {
      if (firstMs === null) {
        firstMs = performance.now()
        resolve()
      } else if (performance.now() - firstMs > REPEAT_MS) {
        onImpatience()
        process.exit(SIGNAL_EXIT_CODE)
      }
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}

/** Standard output has the log, one JSON object a line, unless a person reads it in a terminal. */
function printForPeople(text: string): void {
  const stream = process.stdout.isTTY ? process.stdout : process.stderr
  stream.write(text)
}
