import type { Logger } from '../kernel/logger.ts'
import type { StallMetrics } from './stall-metrics.ts'

/** A request that is being worked on. */
export interface WatchedRequest {
  /** The pattern of the route. */
  readonly route: string
  /** By `performance.now()`. */
  readonly startedMs: number
}

interface WatchdogOptions {
  readonly metrics: StallMetrics
  readonly logger: Logger
  /** Looked at only after a stall. */
  readonly listRequests: () => Iterable<WatchedRequest>
}

const TICK_MS = 20
/** Less is what a busy machine and the garbage collector take anyway. */
const STALL_MS_MIN = 50
const LOGGED_STALL_MS_MIN = 1_000

/**
 * Notices when the event loop stood still, and whose work it most likely was. A timer that comes late tells; requests pay nothing for it.
 * What is returned ends it.
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

/** No request was being worked on: a worker, a run, or the process itself. */
const BACKGROUND = 'background'
/** Requests of several routes were, and none began the stall. */
const SEVERAL = 'several'

/**
 * The route whose request most likely held everybody up. A request that begins does its reading and checking at once: the one after whose
 * beginning nothing else began for most of the stall. Otherwise the one route that was being worked on all the time, if there is only one.
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
