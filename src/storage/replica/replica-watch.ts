import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Queryable } from '../database.ts'
import { messageOf, StorageError } from '../storage-error.ts'
import { readStandby, readWritten } from './read-positions.ts'
import { parseLogPosition, PositionHistory } from './position-history.ts'

export interface ReplicaWatchOptions {
  readonly primary: Queryable
  readonly replica: Queryable
  readonly clock: Clock
  readonly logger: Logger
  /** The replica is used while it knows everything that was true this long ago. */
  readonly lagMsMax: number
  /** Makes what readers must see visible at the primary, such as charges that are not in the books yet. */
  readonly publish: () => Promise<void>
}

export interface ReplicaState {
  readonly isUsed: boolean
  /** How old its data is. Null if that is not known. */
  readonly lagMs: number | null
  /** Why it is not used. Null if it is. */
  readonly reason: string | null
  readonly readsOfReplica: number
  readonly readsOfPrimary: number
}

const PAUSE_MS_MAX = 1_000
const PAUSE_MS_MIN = 50
/** While nobody reads, the replica is looked at less often. */
const IDLE_PAUSE_MS = 10_000
const WANTED_MS = 60_000
/** How long nothing is read from the replica after a read failed. */
const REST_MS = 1_000

/**
 * Knows how old the data of a replica is. It notes positions of the primary's log with their times, and finds the last one that the
 * replica has replayed, so neither clocks nor pauses in writing matter. A server that is no standby of the primary is not used.
 */
export class ReplicaWatch {
  readonly #options: ReplicaWatchOptions
  readonly #history = new PositionHistory()
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  /** Ends the pause. */
  #pausing: AbortController | null = null
  #pauseMs: number
  #wantedMs = -Infinity
  #restUntilMs = -Infinity
  #knownMs: { readonly asOfMs: number; readonly monotonicMs: number } | null = null
  #reason: string | null = 'it has not been looked at yet'
  #wasUsable = false
  #loss = Promise.withResolvers<never>()
  #readsOfReplica = 0
  #readsOfPrimary = 0

  constructor(options: ReplicaWatchOptions) {
    this.#options = options
    this.#pauseMs = Math.min(PAUSE_MS_MAX, Math.max(PAUSE_MS_MIN, options.lagMsMax / 5))
    this.#loss.promise.catch(() => {})
    this.#running = this.#run()
  }

  /** Returns the moment up to which the replica knows everything, or null if the primary has to be read. */
  choose(): number | null {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#wantedMs > WANTED_MS) this.#pausing?.abort()
    this.#wantedMs = nowMs
    const isUsable = this.isUsable
    if (isUsable) this.#readsOfReplica += 1
    else this.#readsOfPrimary += 1
    return isUsable ? (this.#knownMs?.asOfMs ?? null) : null
  }

  get isUsable(): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    return this.#reason === null && nowMs >= this.#restUntilMs && this.#ageMs() <= this.#options.lagMsMax
  }

  get state(): ReplicaState {
    const ageMs = this.#ageMs()
    const isUsed = this.isUsable
    return {
      isUsed,
      lagMs: Number.isFinite(ageMs) ? ageMs : null,
      reason: isUsed ? null : (this.#reason ?? 'it is further behind than it may be'),
      readsOfReplica: this.#readsOfReplica,
      readsOfPrimary: this.#readsOfPrimary,
    }
  }

  /** Rejects when the replica can no longer be used. */
  get lost(): Promise<never> {
    return this.#loss.promise
  }

  /** A read failed. The next ones go to the primary until the replica has been looked at again. */
  noteFailure(): void {
    this.#restUntilMs = this.#options.clock.monotonicMs() + REST_MS
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#pausing?.abort()
    await this.#running
  }

  #ageMs(): number {
    return this.#knownMs === null ? Infinity : this.#options.clock.monotonicMs() - this.#knownMs.monotonicMs
  }

  async #run(): Promise<void> {
    // A replica that does not answer must not delay that this is noticed.
    let looking: Promise<void> | null = null
    while (!this.#closing.signal.aborted) {
      looking ??= this.#look().finally(() => {
        looking = null
      })
      const pausing = this.#pause(this.#pauseMs)
      await Promise.race([looking, pausing])
      this.#tell()
      await pausing
      this.#tell()
      const idleMs = this.#options.clock.monotonicMs() - this.#wantedMs
      if (idleMs > WANTED_MS && this.#reason === null) await this.#pause(IDLE_PAUSE_MS)
    }
  }

  async #pause(durationMs: number): Promise<void> {
    const pausing = new AbortController()
    this.#pausing = pausing
    const signal = AbortSignal.any([pausing.signal, this.#closing.signal])
    await delay(durationMs, undefined, { signal, ref: false }).catch(() => {})
  }

  async #look(): Promise<void> {
    const { primary, replica, clock, publish } = this.#options
    try {
      const atMs = clock.nowMs()
      const monotonicMs = clock.monotonicMs()
      // The replica first: it cannot know more than the primary has written by then.
      const [standby] = await Promise.all([readStandby(replica), publish()])
      const source = await readWritten(primary)
      if (!standby.is_standby || standby.replayed === null) throw new Error('it is not a standby')
      if (standby.cluster !== source.cluster) throw new Error('it is a standby of another server')
      const replayed = parseLogPosition(standby.replayed)
      const written = parseLogPosition(source.written)
      if (!this.#history.isPossible(replayed, written))
        throw new Error('it has what the primary never wrote, since another server was promoted')
      const known = this.#history.find(replayed)
      this.#history.note({ position: written, asOfMs: atMs, monotonicMs })
      this.#knownMs = known ?? this.#knownMs
      this.#reason = null
    } catch (error) {
      this.#reason = messageOf(error)
    }
  }

  /** Tells operators, and whoever waits for an answer of the replica, of a change. */
  #tell(): void {
    const isUsable = this.#reason === null && this.#ageMs() <= this.#options.lagMsMax
    if (isUsable === this.#wasUsable) return
    this.#wasUsable = isUsable
    const { logger } = this.#options
    if (isUsable) {
      this.#loss = Promise.withResolvers<never>()
      this.#loss.promise.catch(() => {})
      logger.info({}, 'reads that may be old use the replica')
      return
    }
    const { reason } = this.state
    this.#loss.reject(new StorageError('replica_lost', `The replica cannot be used: ${reason}.`))
    logger.warn({ reason }, 'the replica is not used; everything is read from the primary')
  }
}
