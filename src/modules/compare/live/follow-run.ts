import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import type { Place } from '../../../storage/place.ts'
import type { Run } from '../runs/run.ts'
import { FollowedCells, type CellEvent } from './followed-cells.ts'
import { decodeLive, FOLLOW_TOPIC, LIVE_TOPIC } from './live-message.ts'

export type RunEvent = CellEvent | { readonly kind: 'end'; readonly status: Run['status'] }

export interface FollowRun {
  /** Throws on the call, before the first read, if too many runs are followed. */
  (run: Run, cancellation: Cancellation): AsyncGenerator<readonly RunEvent[], void>
}

interface FollowRunOptions {
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publish'>
  readonly read: (place: Place, runId: string) => Promise<Run>
  readonly limits?: Partial<FollowLimits>
}

interface FollowLimits {
  readonly durationMsMax: number
  readonly textLengthMax: number
}

const LIMITS: FollowLimits = { durationMsMax: 3_600_000, textLengthMax: 16 * 1024 * 1024 }
/** How often the state of the run is read without a message of its end. */
const LOOK_MS = 1_000
const ASK_MS = 5_000
/** Per process, as is `FOLLOWERS_MAX`. */
const FOLLOWERS_PER_ACCOUNT_MAX = 10
const FOLLOWERS_MAX = 500
const RETRY_SECONDS = 10

/** Yields what the cells of a run answer while any process works on it, until it ends or a limit is reached. */
export function createFollowRun({ messageBus, read, limits: given }: FollowRunOptions): FollowRun {
  const limits = { ...LIMITS, ...given }
  const followers = new Map<FollowedCells, Run>()
  let unsubscribe: (() => void) | null = null

  const enter = (run: Run): FollowedCells => {
    const own = [...followers.values()].filter(({ accountId }) => accountId === run.accountId).length
    if (own >= FOLLOWERS_PER_ACCOUNT_MAX || followers.size >= FOLLOWERS_MAX)
      throw new AppError(
        'concurrency_limit_reached',
        'Too many runs are followed at once. Close a stream first.',
        { retryAfterSeconds: RETRY_SECONDS },
      )
    const cells = new FollowedCells()
    followers.set(cells, run)
    unsubscribe ??= messageBus.subscribe(LIVE_TOPIC, (text) => {
      const message = decodeLive(text)
      if (message === null) return
      for (const [follower, { id }] of followers) if (id === message.runId) follower.add(message)
    })
    return cells
  }
  const leave = (cells: FollowedCells): void => {
    followers.delete(cells)
    if (followers.size > 0) return
    unsubscribe?.()
    unsubscribe = null
  }
  const ask = (runId: string, isFromStart: boolean): void => {
    // Without a connection to others the stream has no texts until it is back, and still ends with the run.
    messageBus.publish(FOLLOW_TOPIC, JSON.stringify({ runId, isFromStart })).catch(() => {})
  }

  async function* follow(
    run: Run,
    cells: FollowedCells,
    cancellation: Cancellation,
  ): AsyncGenerator<readonly RunEvent[], void> {
    const endsAtMs = performance.now() + limits.durationMsMax
    let lookAtMs = 0
    let askAtMs = 0
    let textLength = 0
    try {
      while (!cancellation.isCancelled) {
        const nowMs = performance.now()
        if (nowMs >= askAtMs || cells.hasGap) {
          ask(run.id, askAtMs === 0 || cells.takeGap())
          askAtMs = nowMs + ASK_MS
        }
        const isDue = cells.takeRunOver() || nowMs >= lookAtMs
        const status = isDue ? (await read(run, run.id)).status : 'running'
        if (isDue) lookAtMs = performance.now() + LOOK_MS
        const events = cells.take()
        for (const event of events) if (event.kind === 'text') textLength += event.text.length
        if (events.length > 0) yield events
        const isOver = status !== 'queued' && status !== 'running'
        if (isOver || nowMs >= endsAtMs || textLength >= limits.textLengthMax) {
          yield [{ kind: 'end', status }]
          return
        }
        await cells.wait(LOOK_MS, cancellation)
      }
    } finally {
      leave(cells)
    }
  }

  return (run, cancellation) => follow(run, enter(run), cancellation)
}
