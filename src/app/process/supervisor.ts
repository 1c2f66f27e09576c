import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../../kernel/logger.ts'
import { mergeSnapshots, type Exposition } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'
import { GatewayProcess } from './gateway-process.ts'
import type { ReadyGateway } from './process-messages.ts'
import { once } from 'node:events'
import { createServer } from 'node:net'

const RESTART_PAUSE_MS = 200
const RESTART_PAUSE_MS_MAX = 10_000
/** A process that ran longer than this is restarted without a longer pause. A shorter run suggests that it will crash again. */
const HEALTHY_MS = 10_000
/** Time in addition to the grace period, to abort the remaining requests and to close the storage. */
const STOP_MARGIN_MS = 10_000

interface SupervisorOptions {
  readonly config: Config
  readonly logger: Logger
}

/** Runs several gateway processes on one port. A process that dies is replaced, without effect on the others. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #members = new Set<GatewayProcess>()
  #connectionString = ''
  #port: number
  /** While false, a process that cannot start makes the whole start fail. */
  #isRunning = false

  /** Forks the processes, which load while the caller opens the storage. */
  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#port = options.config.port
    for (let count = 0; count < options.config.processes; count += 1) this.#fork()
  }

  async start(connectionString: string): Promise<ReadyGateway> {
    this.#connectionString = connectionString
    const waiting = [...this.#members]
    const ready: ReadyGateway[] = []
    if (this.#port === 0) {
      // The first process takes a free port, and the others share it.
      for (const member of waiting.splice(0, 1)) ready.push(await this.#startMember(member))
      this.#port = Number(new URL(ready[0]?.url ?? '').port)
    } else {
      // Check first, because with port sharing a second gateway could silently use the port of another one.
      await requireFreePort({ host: this.#options.config.host, port: this.#port })
    }
    ready.push(...(await Promise.all(waiting.map((member) => this.#startMember(member)))))
    this.#isRunning = true
    // A process may have died while the others were starting.
    for (let count = this.#members.size; count < this.#options.config.processes; count += 1)
      void this.#replace(RESTART_PAUSE_MS)
    const bootstrapped = ready.find(({ bootstrapKey }) => bootstrapKey !== null)
    const [first] = ready
    if (first === undefined) throw new Error('there is no process')
    // Only the process that created the first account has its key and the link.
    return bootstrapped ?? first
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
    const member = new GatewayProcess({ readMetrics: () => this.#readMetrics() })
    this.#members.add(member)
    void this.#replaceWhenEnded(member, pauseMs)
    return member
  }

  #startMember(member: GatewayProcess): Promise<ReadyGateway> {
    const config = { ...this.#options.config, port: this.#port }
    return member.start({ config, connectionString: this.#connectionString })
  }

  async #replaceWhenEnded(member: GatewayProcess, lastPauseMs: number): Promise<void> {
    const { logger } = this.#options
    const startedMs = performance.now()
    const { code, signal } = await member.ended
    this.#members.delete(member)
    if (!this.#isRunning) return
    const isHealthy = performance.now() - startedMs > HEALTHY_MS
    const pauseMs = isHealthy ? RESTART_PAUSE_MS : Math.min(lastPauseMs * 2, RESTART_PAUSE_MS_MAX)
    logger.error({ processPid: member.pid, code, signal, pauseMs }, 'a process died and is replaced')
    await wait(pauseMs)
    await this.#replace(pauseMs)
  }

  async #replace(pauseMs: number): Promise<void> {
    if (!this.#isRunning) return
    await this.#startMember(this.#fork(pauseMs)).catch((error: unknown) => {
      if (this.#isRunning) this.#options.logger.error({ err: error }, 'a process could not be replaced yet')
    })
  }

  async #readMetrics(): Promise<Exposition> {
    const snapshots = await Promise.all([...this.#members].map((member) => member.readSnapshot()))
    return mergeSnapshots(snapshots.filter((snapshot) => snapshot !== null))
  }
}

/** Rejects with EADDRINUSE if the port is taken. */
async function requireFreePort(address: { host: string; port: number }): Promise<void> {
  const server = createServer()
  server.listen({ ...address, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
