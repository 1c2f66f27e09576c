import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../kernel/logger.ts'
import { mergeSnapshots, type Exposition } from '../telemetry/metrics.ts'
import type { Config } from './config.ts'
import { GatewayProcess, type ReadyGateway } from './gateway-process.ts'
import { requireFreePort } from './require-free-port.ts'

const RESTART_PAUSE_MS = 200
const RESTART_PAUSE_MS_MAX = 10_000
/** A process that lived this long crashed by accident; one that did not will crash again. */
const HEALTHY_MS = 10_000
/** On top of what running requests get: to abort what is left and to close storage. */
const STOP_MARGIN_MS = 10_000

interface SuperviseOptions {
  readonly config: Config
  readonly connectionString: string
  readonly logger: Logger
}

export interface SupervisedGateway extends ReadyGateway {
  close(): Promise<void>
  /** Ends all processes at once. */
  abandon(): void
}

/** Runs one gateway a core on one port. A process that dies is replaced; the others do not notice. */
export async function startProcesses(options: SuperviseOptions): Promise<SupervisedGateway> {
  const supervisor = new Supervisor(options)
  try {
    const ready = await supervisor.start()
    return { ...ready, close: () => supervisor.close(), abandon: () => supervisor.abandon() }
  } catch (error) {
    supervisor.abandon()
    throw error
  }
}

class Supervisor {
  readonly #options: SuperviseOptions
  readonly #members = new Set<GatewayProcess>()
  #port: number
  /** Until all have started, one that cannot start ends the whole. */
  #isRunning = false
  #pauseMs = RESTART_PAUSE_MS

  constructor(options: SuperviseOptions) {
    this.#options = options
    this.#port = options.config.port
  }

  async start(): Promise<ReadyGateway> {
    const { host, processes } = this.#options.config
    const ready: ReadyGateway[] = []
    if (this.#port === 0) {
      // The first takes a free port, which the others then share.
      const first = await this.#startMember()
      this.#port = Number(new URL(first.url).port)
      ready.push(first)
    } else {
      // Sharing would let a second gateway in on the port of the first without a word.
      await requireFreePort({ host, port: this.#port })
    }
    const missing = Array.from({ length: processes - ready.length }, () => this.#startMember())
    ready.push(...(await Promise.all(missing)))
    this.#isRunning = true
    const [{ url } = { url: '' }] = ready
    return {
      url,
      bootstrapKey: ready.find(({ bootstrapKey }) => bootstrapKey !== null)?.bootstrapKey ?? null,
    }
  }

  async close(): Promise<void> {
    this.#isRunning = false
    const { shutdownDelayMs, shutdownGraceMs } = this.#options.config
    const timeMsMax = shutdownDelayMs + shutdownGraceMs + STOP_MARGIN_MS
    await Promise.all([...this.#members].map((member) => member.stop(timeMsMax)))
  }

  abandon(): void {
    this.#isRunning = false
    for (const member of this.#members) member.kill()
  }

  async #startMember(): Promise<ReadyGateway> {
    const { config, connectionString } = this.#options
    const member = new GatewayProcess({
      config: { ...config, port: this.#port },
      connectionString,
      readMetrics: () => this.#readMetrics(),
    })
    this.#members.add(member)
    void this.#replaceWhenEnded(member)
    return member.ready
  }

  async #replaceWhenEnded(member: GatewayProcess): Promise<void> {
    const startedMs = performance.now()
    const { code, signal } = await member.ended
    this.#members.delete(member)
    if (!this.#isRunning) return
    const { logger } = this.#options
    logger.error({ processPid: member.pid, code, signal }, 'a process died and is replaced')
    const livedMs = performance.now() - startedMs
    this.#pauseMs =
      livedMs > HEALTHY_MS ? RESTART_PAUSE_MS : Math.min(this.#pauseMs * 2, RESTART_PAUSE_MS_MAX)
    await wait(this.#pauseMs)
    if (!this.#isRunning) return
    await this.#startMember().catch((error: unknown) => {
      if (this.#isRunning) logger.error({ err: error }, 'a process could not be replaced yet')
    })
  }

  async #readMetrics(): Promise<Exposition> {
    const snapshots = await Promise.all([...this.#members].map((member) => member.readSnapshot()))
    return mergeSnapshots(snapshots.filter((snapshot) => snapshot !== null))
  }
}
