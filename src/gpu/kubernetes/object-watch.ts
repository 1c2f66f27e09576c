import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { ClusterError, type ClusterApi } from './cluster-api.ts'
import { instanceOf, type ClusterObject } from './cluster-objects.ts'

interface ObjectWatchOptions<Item> {
  readonly api: Pick<ClusterApi, 'list' | 'watch'>
  readonly path: string
  readonly selector: string
  readonly parse: (value: unknown) => Item
  readonly report: (problem: string, error: unknown) => void
  /** The time, given by tests. */
  readonly timing?: WatchTiming
}

interface WatchTiming {
  /** A monotonic clock in milliseconds. */
  nowMs(): number
  /** Resolves after the time, or when the signal is aborted. */
  wait(durationMs: number, signal: AbortSignal): Promise<void>
}

const REAL_TIMING: WatchTiming = {
  nowMs: () => performance.now(),
  wait: (durationMs, signal) => delay(durationMs, undefined, { signal }).catch(() => {}),
}

/** The server ends a watch after this time. If it does not, the client aborts the watch 30 seconds later. */
const WATCH_SECONDS = 240
const WATCH_MS_MAX = (WATCH_SECONDS + 30) * 1_000
/** A watch that lasted longer than this resets the retry delay. */
const LASTING_MS = 5_000
/** How long the copy may be used after the server ended a watch without an error. Usually the next one begins within this time. */
const UNWATCHED_MS_MAX = 1_000
const RETRY_MS = 100
const RETRY_MS_MAX = 30_000
/** The status of a watch whose resource version has expired. */
const EXPIRED = 410

/** A local copy of the objects of one kind: listed once, then updated by a watch. */
export class ObjectWatch<Item extends ClusterObject> {
  readonly #options: ObjectWatchOptions<Item>
  readonly #byInstance = new Map<string, Map<string, Item>>()
  readonly #end = new AbortController()
  #running: Promise<void> | null = null
  readonly #timing: WatchTiming
  /** When the current watch began; null if there is none. */
  #watchedSinceMs: number | null = null
  /** Until when the copy may be used without a watch. */
  #usableUntilMs = 0

  constructor(options: ObjectWatchOptions<Item>) {
    this.#options = options
    this.#timing = options.timing ?? REAL_TIMING
  }

  /**
   * Whether the copy may be used; otherwise callers read the cluster. False before the first watch, after a failed one, and if
   * the next watch does not begin soon after the last one ended.
   */
  get isCurrent(): boolean {
    return this.#watchedSinceMs !== null || this.#timing.nowMs() < this.#usableUntilMs
  }

  /** Starts the watch. Further calls have no effect. */
  start(): void {
    this.#running ??= this.#run()
  }

  of(instanceId: string): readonly Item[] {
    return [...(this.#byInstance.get(instanceId)?.values() ?? [])]
  }

  all(): readonly Item[] {
    return [...this.#byInstance.values()].flatMap((items) => [...items.values()])
  }

  /** Stores an object unless a newer version is known. Callers pass the result of a write, which the watch may receive later. */
  note(item: Item): void {
    const instanceId = instanceOf(item)
    if (instanceId === null) return
    const known = this.#byInstance.get(instanceId) ?? new Map<string, Item>()
    const old = known.get(item.metadata.name)
    if (old !== undefined && isOlder(item, old)) return
    known.set(item.metadata.name, item)
    this.#byInstance.set(instanceId, known)
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#end
    let version: string | null = null
    let failures = 0
    while (!signal.aborted) {
      let isFailed = false
      try {
        version ??= await this.#list()
        for await (const seen of this.#watch(version)) version = seen
      } catch (error) {
        if (signal.aborted) break
        isFailed = true
        const isExpired = error instanceof ClusterError && error.status === EXPIRED
        // The version has expired and missed events are not sent again, so list everything.
        if (isExpired) version = null
        else this.#options.report('a watch of the cluster was interrupted', error)
      }
      const watchedMs = this.#stopUsing(isFailed ? 0 : UNWATCHED_MS_MAX)
      // Back off if the server ends each watch soon after it began.
      failures = watchedMs > LASTING_MS ? 0 : failures + 1
      await this.#timing.wait(Math.min(RETRY_MS * 2 ** Math.min(failures, 10), RETRY_MS_MAX), signal)
    }
    this.#stopUsing(0)
  }

  /** Notes that no watch runs any more. The copy may be used for the given time. Returns how long the watch lasted. */
  #stopUsing(usableMs: number): number {
    const nowMs = this.#timing.nowMs()
    const watchedMs = this.#watchedSinceMs === null ? 0 : nowMs - this.#watchedSinceMs
    this.#watchedSinceMs = null
    this.#usableUntilMs = nowMs + usableMs
    return watchedMs
  }

  async #list(): Promise<string> {
    const { api, path, selector, parse } = this.#options
    const { items, resourceVersion } = await api.list(path, selector)
    const listed = items.map(parse)
    const names = new Set(listed.map(({ metadata }) => metadata.name))
    for (const item of this.all())
      // Keep objects that were noted after the list was made.
      if (!names.has(item.metadata.name) && !isBefore(resourceVersion, item.metadata.resourceVersion))
        this.#forget(item)
    for (const item of listed) this.note(item)
    return resourceVersion
  }

  /** Applies events and yields the resource version after each. */
  async *#watch(version: string): AsyncIterable<string> {
    const { api, path, selector, parse } = this.#options
    const query = {
      labelSelector: selector,
      resourceVersion: version,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(WATCH_SECONDS),
    }
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(WATCH_MS_MAX)])
    const events = await api.watch(path, query, signal)
    this.#watchedSinceMs = this.#timing.nowMs()
    for await (const value of events) {
      const { type, object } = Value.Parse(Event, value)
      if (type === 'ERROR') throw toError(object)
      if (type !== 'BOOKMARK') {
        const item = parse(object)
        if (type === 'DELETED') this.#forget(item)
        else this.note(item)
      }
      yield Value.Parse(Versioned, object).metadata.resourceVersion
    }
  }

  #forget(item: Item): void {
    const instanceId = instanceOf(item)
    if (instanceId === null) return
    const known = this.#byInstance.get(instanceId)
    known?.delete(item.metadata.name)
    if (known?.size === 0) this.#byInstance.delete(instanceId)
  }
}

const Event = Type.Object({ type: Type.String(), object: Type.Unknown() })
const Versioned = Type.Object({ metadata: Type.Object({ resourceVersion: Type.String() }) })
const Status = Type.Object({
  code: Type.Integer(),
  reason: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
})

function toError(object: unknown): Error {
  if (!Value.Check(Status, object)) return new Error('the watch ended with an unknown error')
  return new ClusterError(object.code, { reason: object.reason ?? 'Unknown', message: object.message ?? '' })
}

const DECIMAL = /^\d{1,20}$/

function isOlder(item: ClusterObject, than: ClusterObject): boolean {
  return (
    item.metadata.uid === than.metadata.uid &&
    isBefore(item.metadata.resourceVersion, than.metadata.resourceVersion)
  )
}

/** Returns whether a resource version is older. Only decimal versions, which grow within a kind, can be compared. */
function isBefore(version: string, other: string): boolean {
  return DECIMAL.test(version) && DECIMAL.test(other) && BigInt(version) < BigInt(other)
}
