import type { Logger } from '../kernel/logger.ts'
import type { StallMetrics } from './stall-metrics.ts'

/** A running request. */
export interface WatchedRequest {
  /** The pattern of the route. */
  readonly route: string
  /** Time of `performance.now()`. */
  readonly startedMs: number
}

interface WatchdogOptions {
  readonly metrics: StallMetrics
  readonly logger: Logger
  /** Called only after a stall. */
  readonly listRequests: () => Iterable<WatchedRequest>
}

const TICK_MS = 20
/** Shorter delays are normal on a busy machine or during garbage collection. */
const STALL_MS_MIN = 50
const LOGGED_STALL_MS_MIN = 1_000

/**
 * Detects a blocked event loop by a late timer, and finds the route that most likely caused it. Requests have no overhead.
 * Returns a function that stops the watchdog.
 */
export function startStallWatchdog({ metrics, logger, listRequests }: WatchdogOptions): () => void {
  let lastTickMs = performance.now()
  const timer = setInterval(() => {
    const nowMs = performance.now()
    const stallMs = nowMs - lastTickMs - TICK_MS
    const stall = { fromMs: lastTickMs, toMs: nowMs }
    lastTickMs = nowMs
    if (stallMs < STALL_MS_MIN) return
    const route = attributeStall(listRequests(), stall)
    metrics.stalled(route, stallMs)
    if (stallMs >= LOGGED_STALL_MS_MIN)
      logger.warn({ route, stallMs: Math.round(stallMs) }, 'the event loop stood still')
  }, TICK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** No request was running: the cause was a worker, a run, or the process itself. */
const BACKGROUND = 'background'
/** Requests of several routes were running, and none started the stall. */
const SEVERAL = 'several'

/**
 * Returns the route that most likely blocked the event loop. A new request is read and checked synchronously, so it is the
 * request after whose start no other started for most of the stall. Otherwise it is the route of the requests that ran before the
 * stall, if they all have the same one.
 */
export function attributeStall(
  requests: Iterable<WatchedRequest>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): string {
  const earlier = new Set<string>()
  const begun: WatchedRequest[] = []
  for (const request of requests) {
    if (request.startedMs < fromMs) earlier.add(request.route)
    else begun.push(request)
  }
  begun.sort((left, right) => left.startedMs - right.startedMs)
  for (const [index, { route, startedMs }] of begun.entries()) {
    const nextMs = begun[index + 1]?.startedMs ?? toMs
    if (nextMs - startedMs > (toMs - fromMs) / 2) return route
  }
  const [only = BACKGROUND] = earlier
  return earlier.size > 1 ? SEVERAL : only
}
