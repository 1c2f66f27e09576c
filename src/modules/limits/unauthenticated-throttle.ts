import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { UnauthenticatedLimits } from './limit-table.ts'

/** Throttles IP addresses that have no valid key. */
export interface UnauthenticatedThrottle {
  /** Whether any address is blocked. If not, callers can skip the other checks. */
  hasBlocked(): boolean
  /** Returns how long the address must wait before it may try another key. Null if it may try now. */
  secondsToWait(address: string): number | null
  /** Whether a key that is not in memory may be looked up although the address is blocked. */
  mayLookUp(address: string): boolean
  /** Records a missing or wrong key. */
  noteFailure(address: string): void
  /** Records a request for a page that needs no key. Returns the seconds to wait if there were too many. */
  noteVisit(address: string): number | null
  close(): void
}

interface UnauthenticatedThrottleOptions {
  readonly limits: UnauthenticatedLimits
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publish' | 'isConnected'>
  /** A monotonic clock. Processes send each other durations, not times. */
  readonly nowMs?: () => number
}

interface Stranger {
  /** Failures left before a delay. Refilled over time. */
  attempts: number
  visits: number
  lookUps: number
  refilledAtMs: number
  /** The number of delays so far. Reset 15 minutes after the last delay ended. */
  delays: number
  blockedUntilMs: number
}

const TOPIC = 'limits.stranger-blocked'
const STRANGERS_MAX = 20_000
const FORGIVEN_AFTER_MS = 900_000
const MINUTE_MS = 60_000
const ANNOUNCEMENTS_PER_SECOND_MAX = 20
const SECOND_MS = 1_000
// Enough to find the valid keys behind a shared address; too few to cause load.
const LOOK_UPS_PER_SECOND = 10

/**
 * Each process counts failures by itself, and announces delays to all. An address that fails at all processes at once gets a few
 * more failures than one process allows, and is then blocked everywhere.
 */
export function createUnauthenticatedThrottle({
  limits,
  messageBus,
  nowMs = () => performance.now(),
}: UnauthenticatedThrottleOptions): UnauthenticatedThrottle {
  const strangers = new Map<string, Stranger>()
  let latestBlockMs = 0
  let announcements = { count: 0, sinceMs: 0 }

  const find = (address: string): Stranger => {
    const now = nowMs()
    const known = strangers.get(address)
    const stranger = known ?? {
      attempts: limits.failuresPerMinute,
      visits: limits.requestsPerMinute,
      lookUps: LOOK_UPS_PER_SECOND,
      refilledAtMs: now,
      delays: 0,
      blockedUntilMs: 0,
    }
    refill(stranger, limits, now)
    if (known === undefined) remember(strangers, address, stranger)
    return stranger
  }

  const block = (stranger: Stranger, untilMs: number): void => {
    stranger.blockedUntilMs = Math.max(stranger.blockedUntilMs, untilMs)
    latestBlockMs = Math.max(latestBlockMs, untilMs)
  }

  const announce = (address: string, { blockedUntilMs, delays }: Stranger): void => {
    const now = nowMs()
    const blockedForMs = Math.ceil(blockedUntilMs - now)
    if (now - announcements.sinceMs >= SECOND_MS) announcements = { count: 0, sinceMs: now }
    announcements.count += 1
    if (announcements.count > ANNOUNCEMENTS_PER_SECOND_MAX || !messageBus.isConnected()) return
    messageBus.publish(TOPIC, `${address} ${blockedForMs} ${delays}`).catch(() => {})
  }

  const unsubscribe = messageBus.subscribe(TOPIC, (payload) => {
    const [address = '', blockedForMs, delays] = payload.split(' ', 3)
    const stranger = find(address)
    stranger.delays = Math.max(stranger.delays, Number(delays) || 0)
    block(stranger, nowMs() + Math.min(Number(blockedForMs) || 0, limits.delaySecondsMax * SECOND_MS))
  })

  return {
    hasBlocked: () => latestBlockMs > 0 && nowMs() < latestBlockMs,
    secondsToWait(address) {
      const stranger = strangers.get(address)
      const waitMs = (stranger?.blockedUntilMs ?? 0) - nowMs()
      return waitMs > 0 ? Math.ceil(waitMs / SECOND_MS) : null
    },
    mayLookUp(address) {
      const stranger = find(address)
      if (stranger.lookUps < 1) return false
      stranger.lookUps -= 1
      return true
    },
    noteFailure(address) {
      const stranger = find(address)
      // Failures during a delay were already refused and do not extend it.
      if (nowMs() < stranger.blockedUntilMs) return
      stranger.attempts -= 1
      if (stranger.attempts >= 0) return
      stranger.attempts = 0
      const seconds = Math.min(limits.delaySecondsMax, 2 ** Math.min(stranger.delays, 30))
      stranger.delays += 1
      block(stranger, nowMs() + seconds * SECOND_MS)
      announce(address, stranger)
    },
    noteVisit(address) {
      const stranger = find(address)
      if (stranger.visits < 1)
        return Math.ceil(((1 - stranger.visits) * MINUTE_MS) / limits.requestsPerMinute / SECOND_MS)
      stranger.visits -= 1
      return null
    },
    close: unsubscribe,
  }
}

function refill(stranger: Stranger, limits: UnauthenticatedLimits, nowMs: number): void {
  const elapsedMs = Math.max(0, nowMs - stranger.refilledAtMs)
  // Attempts are not refilled during a delay.
  const freeMs = Math.max(0, Math.min(elapsedMs, nowMs - stranger.blockedUntilMs))
  stranger.attempts = Math.min(
    limits.failuresPerMinute,
    stranger.attempts + (freeMs * limits.failuresPerMinute) / MINUTE_MS,
  )
  stranger.visits = Math.min(
    limits.requestsPerMinute,
    stranger.visits + (elapsedMs * limits.requestsPerMinute) / MINUTE_MS,
  )
  stranger.lookUps = Math.min(
    LOOK_UPS_PER_SECOND,
    stranger.lookUps + (elapsedMs * LOOK_UPS_PER_SECOND) / SECOND_MS,
  )
  stranger.refilledAtMs = nowMs
  if (stranger.delays > 0 && nowMs - stranger.blockedUntilMs >= FORGIVEN_AFTER_MS) {
    stranger.delays = 0
  }
}

// Evicts the oldest entry: a client with many addresses cannot be stopped by storing all of them.
function remember(strangers: Map<string, Stranger>, address: string, stranger: Stranger): void {
  strangers.set(address, stranger)
  if (strangers.size <= STRANGERS_MAX) return
  const [oldest] = strangers.keys()
  if (oldest !== undefined) strangers.delete(oldest)
}
