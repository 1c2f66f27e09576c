import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Deployment } from '../deployment.ts'
import { findNewLines } from './find-new-lines.ts'
import type { LogTail, LogTails } from './log-tails.ts'

/** Why following a log ended. */
type LogEnd = 'stopped' | 'error' | 'deleted' | 'byte_limit' | 'time_limit'

export interface FollowLogs {
  /** Throws on the call, before the first read, if too many logs are followed. */
  (request: FollowRequest): AsyncGenerator<readonly Buffer[], void>
}

interface FollowRequest {
  /** As read at the request. The caller must have checked that the account owns it. */
  readonly deployment: Deployment
  /** The limit of old lines at the beginning. */
  readonly linesMax: number
  readonly cancellation: Cancellation
}

interface FollowOptions {
  readonly tails: Pick<LogTails, 'readShared'>
  /** Returns the current deployment; undefined if it was deleted. */
  readonly find: (deploymentId: string) => Deployment | undefined
  readonly limits?: Partial<FollowLimits>
}

interface FollowLimits {
  readonly lookMs: number
  readonly durationMsMax: number
  readonly bytesMax: number
}

const LIMITS: FollowLimits = { lookMs: 1_000, durationMsMax: 3_600_000, bytesMax: 16 * 1024 * 1024 }
/** Per process, as is `FOLLOWERS_MAX`. */
const FOLLOWERS_PER_ACCOUNT_MAX = 5
const FOLLOWERS_MAX = 500
const RETRY_SECONDS = 10

/** Yields the last lines of an engine, then new ones, across runs, until the deployment ends or a limit is reached. */
export function createFollowLogs({ tails, find, limits: given }: FollowOptions): FollowLogs {
  const limits = { ...LIMITS, ...given }
  const followers = new Map<string, number>()
  let count = 0

  const enter = ({ accountId }: Deployment): (() => void) => {
    const own = followers.get(accountId) ?? 0
    if (own >= FOLLOWERS_PER_ACCOUNT_MAX || count >= FOLLOWERS_MAX)
      throw new AppError(
        'concurrency_limit_reached',
        'Too many logs are followed at once. Close one first.',
        {
          retryAfterSeconds: RETRY_SECONDS,
        },
      )
    followers.set(accountId, own + 1)
    count += 1
    return () => {
      const left = (followers.get(accountId) ?? 1) - 1
      if (left === 0) followers.delete(accountId)
      else followers.set(accountId, left)
      count -= 1
    }
  }

  const look = async (deploymentId: string): Promise<{ tail: LogTail | null; end: LogEnd | null }> => {
    // Read the status before the log, so that the last lines are not missed when the deployment has ended.
    const deployment = find(deploymentId)
    if (deployment === undefined) return { tail: null, end: 'deleted' }
    // If the driver fails, try again at the next look.
    const tail = await tails.readShared(deployment).catch(() => null)
    const { status } = deployment
    const isOver = (status === 'stopped' || status === 'error') && tail?.isOpen !== true
    return { tail, end: isOver ? status : null }
  }

  const follow = async function* (
    request: FollowRequest,
    leave: () => void,
  ): AsyncGenerator<readonly Buffer[], void> {
    const { deployment, linesMax, cancellation } = request
    const endsAtMs = performance.now() + limits.durationMsMax
    let seen: Pick<LogTail, 'runId' | 'lines'> | null = null
    let bytes = 0
    try {
      while (!cancellation.isCancelled) {
        const { tail, end } = await look(deployment.id)
        if (tail !== null) {
          const isFirst = seen === null
          const known = seen?.runId === tail.runId ? seen.lines : []
          const added = findNewLines(known, tail.lines)
          const batch = toEvents(isFirst ? added.slice(-linesMax) : added, tail.runId)
          bytes += batch.reduce((sum, { length }) => sum + length, 0)
          seen = tail
          if (batch.length > 0) yield batch
        }
        const reason = end ?? overdue(bytes, endsAtMs)
        if (reason !== null) {
          yield [Buffer.from(JSON.stringify({ type: 'end', reason }))]
          return
        }
        await delay(limits.lookMs, undefined, { signal: cancellation.signal }).catch(() => {})
      }
    } finally {
      leave()
    }
  }
  const overdue = (bytes: number, endsAtMs: number): LogEnd | null => {
    if (bytes >= limits.bytesMax) return 'byte_limit'
    return performance.now() >= endsAtMs ? 'time_limit' : null
  }

  return (request) => follow(request, enter(request.deployment))
}

function toEvents(lines: readonly string[], runId: string | null): Buffer[] {
  return lines.map((line) => Buffer.from(JSON.stringify({ type: 'line', run_id: runId, line })))
}
