import { Cancellation } from '../kernel/cancellation.ts'
import type { Clock } from '../kernel/clock.ts'
import { createRequestId } from '../kernel/identifiers.ts'
import { ClientDisconnected } from '../kernel/client-disconnected.ts'
import type { Caller } from '../modules/keys/keys.ts'
import { requireAccess } from './access.ts'
import { Exchange } from './exchange.ts'
import type { RequestMessage, ResponseMessage } from './message.ts'

/** How a request ended, for the access log and the metrics. */
export interface FinishedExchange {
  readonly exchange: Exchange
  readonly durationMs: number
  readonly isDisconnected: boolean
}

export interface ExchangeObserver {
  started(route: string): void
  finished(exchange: FinishedExchange): void
}

const CHANGES: ReadonlySet<string> = new Set(['PUT', 'PATCH', 'DELETE'])

/** Tracks every request until its last byte is sent or its client disconnects. */
export class ExchangeTracker {
  /** Cancelled when the server begins to close. */
  readonly shutdown = new Cancellation()
  readonly #observer: ExchangeObserver
  readonly #clock: Clock
  // Not a Set: after it grows, its old tables keep ended requests alive through many garbage collections.
  readonly #running: Exchange[] = []
  #onDrained: (() => void) | null = null

  constructor(observer: ExchangeObserver, clock: Clock) {
    this.#observer = observer
    this.#clock = clock
  }

  get count(): number {
    return this.#running.length
  }

  /** The running requests, in no order. */
  get running(): readonly Exchange[] {
    return this.#running
  }

  begin<Incoming extends RequestMessage>(
    incoming: Incoming,
    response: ResponseMessage,
    route: string,
  ): Exchange<Incoming> {
    const id = createRequestId(this.#clock.nowMs())
    const exchange = new Exchange(id, incoming, response, route, this.shutdown)
    exchange.position = this.#running.push(exchange) - 1
    this.#observer.started(route)
    // `close` is emitted after `finish` and also without it, so one listener covers both.
    response.on('close', () => this.#finish(exchange))
    return exchange
  }

  /** Resolves when no request runs. */
  drained(): Promise<void> {
    if (this.#running.length === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onDrained = resolve
    })
  }

  /** Returns the callers of running requests by key id. */
  callers(): Map<string, Caller> {
    const callers = new Map<string, Caller>()
    for (const { caller } of this.#running) if (caller !== null) callers.set(caller.keyId, caller)
    return callers
  }

  /** The accounts of the running requests, once for each request. */
  *accounts(): Generator<string> {
    for (const { caller } of this.#running) if (caller !== null) yield caller.accountId
  }

  /** Ends the running requests of this key whose routes it may no longer use. */
  cancelForbidden(caller: Caller): void {
    for (const exchange of this.#running.slice()) {
      const { access } = exchange
      if (access === null || exchange.caller?.keyId !== caller.keyId) continue
      // A request that takes rights away from its own key has to be answered.
      if (exchange.incoming.method !== 'GET' && !access.permissions.includes('models.use')) continue
      try {
        requireAccess(caller, access)
      } catch (error) {
        exchange.refuse(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }

  /** Ends the running requests of these callers, and cuts the connection if the client does not read. */
  cancelOf(isMeant: (caller: Caller) => boolean, reason: Error): void {
    // Skip requests that change something, because one of them may be revoking this key or ending this session.
    const ended = this.#running.filter(
      ({ caller, incoming }) => caller !== null && isMeant(caller) && !CHANGES.has(incoming.method ?? ''),
    )
    for (const exchange of ended) exchange.refuse(reason)
  }

  /** Returns the ids of the sessions of running requests. */
  sessionIds(): Set<string> {
    const sessionIds = new Set<string>()
    for (const { caller } of this.#running)
      if (caller?.session !== undefined) sessionIds.add(caller.session.id)
    return sessionIds
  }

  /** Returns the ids of the signed-in tools whose access tokens running requests have. */
  grantIds(): Set<string> {
    const grantIds = new Set<string>()
    for (const { caller } of this.#running) {
      const grantId = caller?.accessToken?.grantId ?? null
      if (grantId !== null) grantIds.add(grantId)
    }
    return grantIds
  }

  cancelAll(reason: Error): void {
    for (const exchange of this.#running.slice()) exchange.cancellation.cancel(reason)
  }

  #finish(exchange: Exchange): void {
    this.#remove(exchange)
    const isDisconnected = !exchange.response.writableFinished
    const durationMs = performance.now() - exchange.startedMs
    if (isDisconnected) exchange.cancellation.cancel(new ClientDisconnected('the client disconnected'))
    if (isDisconnected || exchange.isRefused) {
      // Report after the work has ended, because it still has to record its usage.
      const report = () => {
        exchange.finish()
        this.#observer.finished({ exchange, durationMs, isDisconnected })
      }
      if (exchange.work === null) setImmediate(report)
      else exchange.work.then(report, report)
    } else {
      exchange.finish()
      this.#observer.finished({ exchange, durationMs, isDisconnected })
    }
    if (this.#running.length === 0) this.#onDrained?.()
  }

  /** Swap-remove: moves the last request to the free position. */
  #remove(exchange: Exchange): void {
    const last = this.#running.pop()
    if (last === undefined || last === exchange) return
    this.#running[exchange.position] = last
    last.position = exchange.position
  }
}
