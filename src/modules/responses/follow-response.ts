import { notFound } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import { readKnownResponse, type KnownResponse } from './background-status.ts'
import type { ResponseChanges } from './response-changes.ts'
import { countEvents, LAST_EVENT, readEvents } from './response-events.ts'

interface FollowOptions {
  readonly database: Database
  readonly changes: Pick<ResponseChanges, 'wait'>
}

interface Followed {
  readonly place: Place
  readonly responseId: string
  /** The task that makes it, or null. */
  readonly taskId: string | null
  /** The number of the last event that the client has; -1 for none. */
  readonly startingAfter: number
  readonly cancellation: Cancellation
}

/** Polling interval for changes without a notification. It grows while no events arrive. */
const LOOK_MS = 1_000
const LOOK_MS_MAX = 5_000

/**
 * Yields the events of a background response as they are written, by any process. If the response ended without a last event,
 * yields a generated one. It is the same for every reader, because no event is written after it.
 */
export async function* followResponse(
  { database, changes }: FollowOptions,
  { place, responseId, taskId, startingAfter, cancellation }: Followed,
): AsyncGenerator<readonly Buffer[], void> {
  const written = { accountId: place.accountId, responseId }
  const watched = taskId === null ? [responseId] : [responseId, taskId]
  let lookMs = LOOK_MS
  let next = startingAfter + 1
  while (!cancellation.isCancelled) {
    const wait = changes.wait(watched, { timeoutMs: lookMs, cancellation })
    try {
      // Read the state first: events that were written before the end are then visible when the end is.
      const known = await readKnownResponse(database, place, responseId)
      if (known === null) throw notFound('response')
      const events = await readEvents(database, written, next)
      const last = events.findLast(({ event }) => LAST_EVENT.test(event))
      const others = events.filter((event) => event !== last)
      if (others.length > 0) yield others.map(({ event }) => Buffer.from(event))
      // Yielded alone, so that a recorder of the stream sees that it is complete.
      if (last !== undefined) return yield [Buffer.from(last.event)]
      next += events.length
      if (events.length === 0 && known.hasEnded) {
        const end = endOf(known, await countEvents(database, written), next)
        if (end !== null) yield [end]
        return
      }
      lookMs = events.length === 0 ? Math.min(lookMs * 2, LOOK_MS_MAX) : LOOK_MS
      if (events.length === 0) await wait.changed
    } finally {
      wait.end()
    }
  }
}

/**
 * Returns the last event of a response that was cancelled, failed, or was made without events. Null if the client has it already.
 * A cancelled response ends with `response.failed`, because the wire has no other event for it; its status says that it was
 * cancelled.
 */
function endOf(
  { response }: KnownResponse,
  { count, hasEnd }: { count: number; hasEnd: boolean },
  next: number,
): Buffer | null {
  if (hasEnd || next > count) return null
  const { status } = response
  const type = status === 'completed' || status === 'incomplete' ? status : 'failed'
  return Buffer.from(JSON.stringify({ type: `response.${type}`, sequence_number: count, response }))
}
