import { createLogger } from '../../telemetry/logger.ts'
import type { Exposition } from '../../telemetry/metrics.ts'
import { composeGateway, type Gateway } from '../compose.ts'
import { loadConfig } from '../config.ts'
import { isOrder, type ProcessReport } from '../process-messages.ts'
import type { Command } from './command.ts'

const METRICS_MS_MAX = 3_000

/** One of several processes on one port. Started by the supervisor, which owns the database and the signals. */
export const serveProcess: Command = {
  usage: 'serve-process',
  summary: null,
  async run() {
    const config = loadConfig({ environment: process.env })
    const logger = createLogger({ level: config.logLevel, logPrompts: config.logPrompts })
    const metricsWanted = new Map<number, (exposition: Exposition) => void>()
    let lastRequestId = 0
    const expositionOfAll = (): Promise<Exposition> =>
      new Promise((resolve, reject) => {
        lastRequestId += 1
        const requestId = lastRequestId
        const timer = setTimeout(() => {
          metricsWanted.delete(requestId)
          reject(new Error('the supervisor did not answer'))
        }, METRICS_MS_MAX)
        metricsWanted.set(requestId, (exposition) => {
          clearTimeout(timer)
          metricsWanted.delete(requestId)
          resolve(exposition)
        })
        report({ report: 'metrics-wanted', requestId })
      })

    const stop = stopOrdered()
    const gateway = await composeGateway({
      config,
      connectionString: config.databaseUrl ?? '',
      logger,
      sharePort: true,
      expositionOfAll,
    })
    process.on('message', (message) => {
      if (!isOrder(message)) return
      if (message.order === 'snapshot') void reportSnapshot(gateway, message.requestId)
      else metricsWanted.get(message.requestId)?.(message.exposition)
    })
    report({ report: 'ready', url: gateway.url, bootstrapKey: gateway.bootstrapKey })
    await stop
    await gateway.close()
    await logger.flush()
    if (process.connected) process.disconnect()
    return 0
  },
}

function stopOrdered(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve())
    // A terminal interrupts the whole group; the supervisor says when it is time.
    process.on('SIGINT', () => {})
    // Without a supervisor nobody would restart or stop this process.
    process.on('disconnect', () => resolve())
  })
}

async function reportSnapshot(gateway: Gateway, requestId: number): Promise<void> {
  report({ report: 'snapshot', requestId, snapshot: await gateway.metrics.snapshot() })
}

function report(message: ProcessReport): void {
  if (process.connected) process.send?.(message)
}
