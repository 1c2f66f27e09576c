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
/** A process that lived this long crashed by accident; one that did not will crash again. */
const HEALTHY_MS = 10_000
/** On top of what running requests get: to abort what is left and to close storage. */
const STOP_MARGIN_MS = 10_000

interface SupervisorOptions {
  readonly config: Config
  readonly logger: Logger
}

/** Runs one gateway a core on one port. A process that dies is replaced; the others do not notice. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #members = new Set<GatewayProcess>()
  #connectionString = ''
  #port: number
  /** Until all have started, one that cannot start ends the whole. */
  #isRunning = false

  /** The processes load while the caller opens storage. */
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
      // The first takes a free port, which the others then share.
      for (const member of waiting.splice(0, 1)) ready.push(await this.#startMember(member))
      this.#port = Number(new URL(ready[0]?.url ?? '').port)
    } else {
      // Sharing would let a second gateway in on the port of the first without a word.
      await requireFreePort({ host: this.#options.config.host, port: this.#port })
    }
    ready.push(...(await Promise.all(waiting.map((member) => this.#startMember(member)))))
    this.#isRunning = true
    const bootstrapped = ready.find(({ bootstrapKey }) => bootstrapKey !== null)
    const [{ url, exampleModel } = { url: '', exampleModel: '' }] = ready
    return { url, exampleModel, bootstrapKey: bootstrapped?.bootstrapKey ?? null }
  }

  async close(): Promise<void> {
    this.#isRunning = false
    const { shutdownDelayMs, shutdownGraceMs } = this.#options.config
    const timeMsMax = shutdownDelayMs + shutdownGraceMs + STOP_MARGIN_MS
    await Promise.all([...this.#members].map((member) => member.stop(timeMsMax)))
  }

  /** Ends all processes at once. */
  abandon(): void {
    this.#isRunning = false
    for (const member of this.#members) member.kill()
  }

  /** Takes how long its predecessor waited: one that keeps crashing does not slow down the others. */
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
    if (!this.#isRunning) return
    await this.#startMember(this.#fork(pauseMs)).catch((error: unknown) => {
      if (this.#isRunning) logger.error({ err: error }, 'a process could not be replaced yet')
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
