import type { Clock } from '../kernel/clock.ts'
import { createRequestId } from '../kernel/identifiers.ts'
import { ClientDisconnected } from '../kernel/client-disconnected.ts'
import type { Caller } from '../modules/keys/keys.ts'
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

const CHANGES: ReadonlySet<string> = new Set(['PATCH', 'DELETE'])
const CUT_OFF_AFTER_MS = 500

/** Follows every request from its first header to its last byte, or to the client's disappearance. */
export class ExchangeTracker {
  readonly #observer: ExchangeObserver
  // Not a set: the tables a set outgrows keep what was in them alive through many collections.
  readonly #clock: Clock
  readonly #running: Exchange[] = []
  #onDrained: (() => void) | null = null

  constructor(observer: ExchangeObserver, clock: Clock) {
    this.#observer = observer
    this.#clock = clock
  }

  get count(): number {
    return this.#running.length
  }

  /** What runs now, in no order. */
  get running(): readonly Exchange[] {
    return this.#running
  }

  begin<Incoming extends RequestMessage>(
    incoming: Incoming,
    response: ResponseMessage,
    route: string,
  ): Exchange<Incoming> {
    const exchange = new Exchange(createRequestId(this.#clock.nowMs()), incoming, response, route)
    exchange.position = this.#running.push(exchange) - 1
    this.#observer.started(route)
    // `close` follows `finish` and also comes without it: one listener sees both endings.
    response.on('close', () => this.#finish(exchange))
    return exchange
  }

  /** Resolves when nothing runs. */
  drained(): Promise<void> {
    if (this.#running.length === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onDrained = resolve
    })
  }

  /** The keys whose requests run, each once. */
  callers(): Map<string, Caller> {
    const callers = new Map<string, Caller>()
    for (const { caller } of this.#running) if (caller !== null) callers.set(caller.keyId, caller)
    return callers
  }

  /** Ends what runs for a key; what does not end by itself, because its client reads nothing, is cut off. */
  cancelOfKey(keyId: string, reason: Error): void {
    // Changes of keys are let through: one of them may be what this key was just revoked by.
    const ended = this.#running.filter(
      ({ caller, incoming }) => caller?.keyId === keyId && !CHANGES.has(incoming.method ?? ''),
    )
    for (const exchange of ended) exchange.cancellation.cancel(reason)
    if (ended.length === 0) return
    setTimeout(() => {
      for (const { response } of ended) if (response.writableNeedDrain) response.destroy()
    }, CUT_OFF_AFTER_MS).unref()
  }

  cancelAll(reason: Error): void {
    for (const exchange of this.#running.slice()) exchange.cancellation.cancel(reason)
  }

  #finish(exchange: Exchange): void {
    this.#remove(exchange)
    const isDisconnected = !exchange.response.writableFinished
    const durationMs = performance.now() - exchange.startedMs
    if (isDisconnected) {
      exchange.cancellation.cancel(new ClientDisconnected('the client disconnected'))
      // What was under way ends with that, or is read to its end, and still has to say what it used.
      const report = () => this.#observer.finished({ exchange, durationMs, isDisconnected })
      if (exchange.work === null) setImmediate(report)
      else exchange.work.then(report, report)
    } else {
      this.#observer.finished({ exchange, durationMs, isDisconnected })
    }
    if (this.#running.length === 0) this.#onDrained?.()
  }

  /** The last takes the place of the one that leaves. */
  #remove(exchange: Exchange): void {
    const last = this.#running.pop()
    if (last === undefined || last === exchange) return
    this.#running[exchange.position] = last
    last.position = exchange.position
  }
}
