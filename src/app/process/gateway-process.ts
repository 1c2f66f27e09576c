import { fork, type ChildProcess } from 'node:child_process'
import type { Logger } from '../../kernel/logger.ts'
import type { Exposition, MetricsSnapshot } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'
import {
  isReport,
  type FirstKey,
  type ProcessOrder,
  type ProcessReport,
  type ReadyGateway,
} from './process-messages.ts'

/** A process that starts tells of itself every second. One that is silent for this long is stuck; a slow one is not. */
const SILENCE_MS_MAX = 120_000
/** How often a start that is not finished is logged. */
const SLOW_START_MS = 30_000
const WATCHES_PER_SILENCE = 10
const SNAPSHOT_MS_MAX = 1_000

interface GatewayProcessOptions {
  /** Returns the merged metrics of all processes, for `/metrics` of this process. */
  readonly readMetrics: () => Promise<Exposition>
  readonly onFirstKey: (key: FirstKey) => void
  readonly logger: Logger
  readonly silenceMsMax?: number
}

export interface EndedProcess {
  readonly code: number | null
  readonly signal: string | null
}

/** The supervisor's view of one gateway process. The process loads the program immediately and waits for the start order. */
export class GatewayProcess {
  readonly #child: ChildProcess
  readonly #options: GatewayProcessOptions
  readonly #ready = Promise.withResolvers<ReadyGateway>()
  readonly #ended = Promise.withResolvers<EndedProcess>()
  readonly #snapshots = new Map<number, (snapshot: MetricsSnapshot | null) => void>()
  #lastRequestId = 0
  #heardAtMs = 0

  constructor(options: GatewayProcessOptions) {
    this.#options = options
    this.#child = fork(new URL('../main.ts', import.meta.url), ['serve-process'], {
      execArgv: process.execArgv,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // JSON cannot represent maps.
      serialization: 'advanced',
    })
    this.#child.on('message', (message) => {
      if (isReport(message)) this.#receive(message)
    })
    // After a channel error the process ends, which is handled by `exit`.
    this.#child.on('error', () => {})
    this.#child.once('exit', (code, signal) => {
      this.#ready.reject(
        new ProcessNotStarted(`A process ended while it was starting (${signal ?? `exit code ${code}`}).`),
      )
      this.#ended.resolve({ code, signal })
    })
    // `start` reports the error. Avoid an unhandled rejection if the process ends before `start`.
    this.#ready.promise.catch(() => {})
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /**
   * Starts the gateway, and waits as long as the process tells that it is starting. Rejects with a `ProcessNotStarted` if it fails
   * or is stuck; the process has then ended or is about to.
   */
  async start(order: { config: Config; connectionString: string }): Promise<ReadyGateway> {
    const startedMs = performance.now()
    this.#heardAtMs = startedMs
    const { logger, silenceMsMax = SILENCE_MS_MAX } = this.#options
    const slow = setInterval(() => {
      const seconds = Math.round((performance.now() - startedMs) / 1000)
      logger.warn({ processPid: this.pid, seconds }, 'a process is still starting')
    }, SLOW_START_MS)
    const watch = setInterval(() => {
      if (performance.now() - this.#heardAtMs < silenceMsMax) return
      this.#ready.reject(
        new ProcessNotStarted(`A process that was starting has been silent for ${silenceMsMax / 1000} s.`),
      )
      this.kill()
    }, silenceMsMax / WATCHES_PER_SILENCE)
    try {
      this.#send({ order: 'start', ...order })
      return await this.#ready.promise
    } finally {
      clearInterval(slow)
      clearInterval(watch)
    }
  }

  get ended(): Promise<EndedProcess> {
    return this.#ended.promise
  }

  /** Returns null for a process that is too busy to answer or is dying, so that callers do not wait for it. */
  readSnapshot(): Promise<MetricsSnapshot | null> {
    this.#lastRequestId += 1
    const requestId = this.#lastRequestId
    return new Promise((resolve) => {
      const finish = (snapshot: MetricsSnapshot | null) => {
        clearTimeout(timer)
        this.#snapshots.delete(requestId)
        resolve(snapshot)
      }
      const timer = setTimeout(() => finish(null), SNAPSHOT_MS_MAX)
      this.#snapshots.set(requestId, finish)
      if (!this.#send({ order: 'snapshot', requestId })) finish(null)
    })
  }

  /** Asks the process to stop, and kills it after this time. */
  async stop(timeMsMax: number): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.kill(), timeMsMax)
    await this.ended
    clearTimeout(timer)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #receive(message: ProcessReport): void {
    this.#heardAtMs = performance.now()
    switch (message.report) {
      case 'starting':
        return
      case 'first-key':
        return this.#options.onFirstKey(message)
      case 'ready':
        return this.#ready.resolve(message)
      case 'failed':
        return this.#ready.reject(new ProcessNotStarted(message.reason))
      case 'snapshot':
        return this.#snapshots.get(message.requestId)?.(message.snapshot)
      case 'metrics-wanted':
        return void this.#answerMetrics(message.requestId)
    }
  }

  async #answerMetrics(requestId: number): Promise<void> {
    this.#send({ order: 'metrics', requestId, exposition: await this.#options.readMetrics() })
  }

  #send(order: ProcessOrder): boolean {
    if (!this.#child.connected) return false
    this.#child.send(order)
    return true
  }
}

/** A process could not start. The message is for the operator. */
export class ProcessNotStarted extends Error {
  override readonly name = 'ProcessNotStarted'
}
