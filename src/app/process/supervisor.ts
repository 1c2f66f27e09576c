import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../../kernel/logger.ts'
import { mergeSnapshots, type Exposition } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'
import { GatewayProcess } from './gateway-process.ts'
import type { FirstKey, ReadyGateway } from './process-messages.ts'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** How much longer than the first process the others may take before the gateway is announced without them. */
const OTHERS_MS_MAX = 2_000
const RESTART_PAUSE_MS = 200
const RESTART_PAUSE_MS_MAX = 10_000
/** A process that ran longer than this is restarted without a longer pause. A shorter run suggests that it will crash again. */
const HEALTHY_MS = 10_000
/** Time in addition to the grace period, to abort the remaining requests and to close the storage. */
const STOP_MARGIN_MS = 10_000

interface SupervisorOptions {
  readonly config: Config
  readonly logger: Logger
  /** Called as soon as a process has created the first account, also if that is after the start. */
  readonly onFirstKey: (key: FirstKey) => void
}

/** Runs several gateway processes on one port. A process that dies is replaced, without effect on the others. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #members = new Set<GatewayProcess>()
  /** The members that are ready. */
  readonly #serving = new Set<GatewayProcess>()
  #firstKey: FirstKey | null = null
  #connectionString = ''
  #port: number
  /** Whether a process that ends is replaced. False until one is ready, so that a start that cannot succeed ends. */
  #isRunning = false

  /** Forks the processes, which load while the caller opens the storage. */
  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#port = options.config.port
    for (let count = 0; count < options.config.processes; count += 1) this.#fork()
  }

  /**
   * Resolves when the first process is ready, and the others are too or take longer: what serves is not ended because of them.
   * Rejects only if every process failed.
   */
  async start(connectionString: string): Promise<ReadyGateway> {
    this.#connectionString = connectionString
    const waiting = [...this.#members]
    // Check first, because with port sharing a second gateway could silently use the port of another one.
    if (this.#port !== 0) await requireFreePort({ host: this.#options.config.host, port: this.#port })
    const ready = this.#port === 0 ? await this.#startFirst(waiting) : null
    const starting = waiting.map((member) => this.#startMember(member))
    const first = ready ?? (await firstOf(starting))
    this.#isRunning = true
    const others = starting.map((start) => start.catch((error: unknown) => this.#reportFailure(error)))
    await Promise.race([Promise.all(others), wait(OTHERS_MS_MAX, undefined, { ref: false })])
    // A process may have died while the others were starting.
    for (let count = this.#members.size; count < this.#options.config.processes; count += 1)
      void this.#replace(RESTART_PAUSE_MS)
    // Only the process that created the first account has its key and the link.
    return { ...first, ...this.#firstKey }
  }

  /** Starts one process after the other until one has taken a free port, which the others share. */
  async #startFirst(waiting: GatewayProcess[]): Promise<ReadyGateway> {
    const failures: unknown[] = []
    for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
      try {
        const ready = await this.#startMember(member)
        this.#port = Number(new URL(ready.url).port)
        return ready
      } catch (error) {
        failures.push(error)
      }
    }
    throw failures[0]
  }

  async close(): Promise<void> {
    this.#isRunning = false
    const { shutdownDelayMs, shutdownGraceMs } = this.#options.config
    const timeMsMax = shutdownDelayMs + shutdownGraceMs + STOP_MARGIN_MS
    await Promise.all([...this.#members].map((member) => member.stop(timeMsMax)))
  }

  /** Kills all processes. */
  abandon(): void {
    this.#isRunning = false
    for (const member of this.#members) member.kill()
  }

  /**
   * `pauseMs` is the pause before this process was started. The next one is longer if it crashes soon again. Each process has its
   * own.
   */
  #fork(pauseMs = RESTART_PAUSE_MS): GatewayProcess {
    const member = new GatewayProcess({
      readMetrics: () => this.#readMetrics(),
      onFirstKey: (key) => {
        this.#firstKey = key
        this.#options.onFirstKey(key)
      },
      logger: this.#options.logger,
    })
    this.#members.add(member)
    void this.#replaceWhenEnded(member, pauseMs)
    return member
  }

  async #startMember(member: GatewayProcess): Promise<ReadyGateway> {
    const config = { ...this.#options.config, port: this.#port }
    const ready = await member.start({ config, connectionString: this.#connectionString })
    if (this.#members.has(member)) this.#serving.add(member)
    return ready
  }

  async #replaceWhenEnded(member: GatewayProcess, lastPauseMs: number): Promise<void> {
    const { logger } = this.#options
    const startedMs = performance.now()
    const { code, signal } = await member.ended
    this.#members.delete(member)
    this.#serving.delete(member)
    if (!this.#isRunning) return
    const isHealthy = performance.now() - startedMs > HEALTHY_MS
    const pauseMs = isHealthy ? RESTART_PAUSE_MS : Math.min(lastPauseMs * 2, RESTART_PAUSE_MS_MAX)
    logger.error({ processPid: member.pid, code, signal, pauseMs }, 'a process died and is replaced')
    await wait(pauseMs)
    await this.#replace(pauseMs)
  }

  async #replace(pauseMs: number): Promise<void> {
    if (!this.#isRunning) return
    await this.#startMember(this.#fork(pauseMs)).catch((error: unknown) => this.#reportFailure(error))
  }

  #reportFailure(error: unknown): void {
    if (this.#isRunning) this.#options.logger.error({ err: error }, 'a process could not be started yet')
  }

  async #readMetrics(): Promise<Exposition> {
    // Processes that are starting do not answer yet.
    const snapshots = await Promise.all([...this.#serving].map((member) => member.readSnapshot()))
    return mergeSnapshots(snapshots.filter((snapshot) => snapshot !== null))
  }
}

/** Resolves with the first result. Rejects with the first error if there is no result. */
async function firstOf<Result>(attempts: readonly Promise<Result>[]): Promise<Result> {
  return Promise.any(attempts).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors[0] : error
  })
}

/** Rejects with EADDRINUSE if the port is taken. */
async function requireFreePort(address: { host: string; port: number }): Promise<void> {
  const server = createServer()
  server.listen({ ...address, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
