import type { Exposition } from '../../telemetry/metrics.ts'
import type { Gateway } from '../compose.ts'
import { createProcessLogger } from '../process/create-process-logger.ts'
import { describeFailure } from '../report/describe-failure.ts'
import { exitOnDefect } from '../process/exit-on-defect.ts'
import { loadGateway } from '../process/load-gateway.ts'
import { isOrder, type ProcessOrder, type ProcessReport } from '../process/process-messages.ts'
import type { Command } from './command.ts'

const METRICS_MS_MAX = 3_000
/** How often a process that starts tells the supervisor that it is not stuck. */
const STARTING_MS = 1_000

/** Runs one of several gateway processes on one port. The supervisor starts it, and owns the database and the signal handling. */
export const serveProcess: Command = {
  usage: 'serve-process',
  options: {},
  async run() {
    const stop = stopOrdered()
    const beat = setInterval(() => report({ report: 'starting' }), STARTING_MS)
    const loading = loadGateway()
    const start = await Promise.race([startOrdered(), stop])
    if (start === null) {
      clearInterval(beat)
      return 0
    }
    const { config, connectionString } = start
    const logger = createProcessLogger(config)
    exitOnDefect(logger)
    const metricsOfAll = createMetricsOfAll()
    try {
      const composeGateway = await loading
      const gateway = await composeGateway({
        config,
        connectionString,
        logger,
        sharePort: true,
        expositionOfAll: metricsOfAll.read,
        onFirstKey: (key) => report({ report: 'first-key', ...key }),
      })
      process.on('message', (message) => {
        if (!isOrder(message)) return
        if (message.order === 'snapshot') void reportSnapshot(gateway, message.requestId)
        if (message.order === 'metrics') metricsOfAll.receive(message)
      })
      clearInterval(beat)
      const { url, bootstrapKey, signInCode, exampleModel } = gateway
      report({ report: 'ready', url, bootstrapKey, signInCode, exampleModel })
      await stop
      await gateway.close()
      return 0
    } catch (error) {
      report({ report: 'failed', reason: describeFailure(error) })
      return 1
    } finally {
      clearInterval(beat)
      await logger.flush().catch(() => {})
      if (process.connected) process.disconnect()
    }
  },
}

function stopOrdered(): Promise<null> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve(null))
    // A terminal interrupts the whole process group; the supervisor decides when to stop.
    process.on('SIGINT', () => {})
    // Without a supervisor, this process would never be restarted or stopped.
    process.on('disconnect', () => resolve(null))
  })
}

function startOrdered(): Promise<Extract<ProcessOrder, { order: 'start' }>> {
  return new Promise((resolve) => {
    const receive = (message: unknown) => {
      if (!isOrder(message) || message.order !== 'start') return
      process.off('message', receive)
      resolve(message)
    }
    process.on('message', receive)
  })
}

/** Requests the merged metrics of all processes from the supervisor. */
function createMetricsOfAll() {
  const waiting = new Map<number, (exposition: Exposition) => void>()
  let lastRequestId = 0
  return {
    read: (): Promise<Exposition> =>
      new Promise((resolve, reject) => {
        lastRequestId += 1
        const requestId = lastRequestId
        const timer = setTimeout(() => {
          waiting.delete(requestId)
          reject(new Error('the supervisor did not answer'))
        }, METRICS_MS_MAX)
        waiting.set(requestId, (exposition) => {
          clearTimeout(timer)
          waiting.delete(requestId)
          resolve(exposition)
        })
        report({ report: 'metrics-wanted', requestId })
      }),
    receive: ({ requestId, exposition }: Extract<ProcessOrder, { order: 'metrics' }>): void =>
      waiting.get(requestId)?.(exposition),
  }
}

async function reportSnapshot(gateway: Gateway, requestId: number): Promise<void> {
  report({ report: 'snapshot', requestId, snapshot: await gateway.metrics.snapshot() })
}

function report(message: ProcessReport): void {
  if (process.connected) process.send?.(message)
}
