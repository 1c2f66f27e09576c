import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Deployment } from '../deployment.ts'
import { findNewLines } from './find-new-lines.ts'
import type { LogTail, LogTails } from './log-tails.ts'

/** Why a log is not followed any further. */
type LogEnd = 'stopped' | 'error' | 'deleted' | 'byte_limit' | 'time_limit'

export interface FollowLogs {
  /** Throws at once where the account follows too many. */
  (request: FollowRequest): AsyncGenerator<readonly Buffer[], void>
}

interface FollowRequest {
  /** As it was when it was asked for. It must be the account's. */
  readonly deployment: Deployment
  /** How many lines to begin with at most. */
  readonly linesMax: number
  readonly cancellation: Cancellation
}

interface FollowOptions {
  readonly tails: Pick<LogTails, 'readShared'>
  /** As it is now; undefined for one that is deleted. */
  readonly find: (deploymentId: string) => Deployment | undefined
  readonly limits?: Partial<FollowLimits>
}

interface FollowLimits {
  readonly lookMs: number
  readonly durationMsMax: number
  readonly bytesMax: number
}

const LIMITS: FollowLimits = { lookMs: 1_000, durationMsMax: 3_600_000, bytesMax: 16 * 1024 * 1024 }
/** In each process. */
const FOLLOWERS_PER_ACCOUNT_MAX = 5
const FOLLOWERS_MAX = 500
const RETRY_SECONDS = 10

/** Says the last lines of an engine and whatever comes behind them, over all runs, until the deployment has ended. */
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
    // The state first: what was said before the end is read when the end is seen.
    const deployment = find(deploymentId)
    if (deployment === undefined) return { tail: null, end: 'deleted' }
    // A driver that does not answer has nothing new to say.
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
