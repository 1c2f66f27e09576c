import { Cancellation } from '../kernel/cancellation.ts'
import type { Clock } from '../kernel/clock.ts'
import { OutboundFailed } from '../outbound/outbound.ts'
import { HubError } from './hub-error.ts'
import type { Hub, HubModel, HubRequest } from './hub.ts'

const KEPT_MS = 300_000
const KEPT_MAX = 200
const AT_ONCE_MAX = 8
/** Limit for all reads of one model together. */
const READ_MS_MAX = 30_000
/** After a connection failure, requests fail at once for this long, so that they do not queue up. */
const UNREACHABLE_MS = 10_000

interface Kept {
  readonly model: Promise<HubModel>
  readonly readAtMs: number
}

/**
 * Adds a cache and limits to a hub, so that a client with many requests does not cause as many requests to the hub. Models read
 * with a token of the request are not cached, because other clients may not have access to them. Those read with the operator's
 * token are cached apart.
 */
export function createCachedHub({ hub, clock }: { hub: Hub; clock: Clock }): Hub {
  const kept = new Map<string, Kept>()
  let running = 0
  let unreachable: { readonly error: HubError; readonly atMs: number } | null = null

  const bounded = async <Result>(
    request: HubRequest,
    read: (request: HubRequest) => Promise<Result>,
  ): Promise<Result> => {
    if (unreachable !== null && clock.monotonicMs() - unreachable.atMs < UNREACHABLE_MS)
      throw unreachable.error
    if (running >= AT_ONCE_MAX)
      throw new HubError('unavailable', 'Too many models are being read from the hub.')
    running += 1
    const limit = limitTime(request.cancellation)
    try {
      return await read({ ...request, cancellation: limit.cancellation })
    } catch (error) {
      if (error instanceof HubError && isUnreachable(error))
        unreachable = { error, atMs: clock.monotonicMs() }
      throw error
    } finally {
      limit.end()
      running -= 1
    }
  }
  const readModel = (request: HubRequest) => bounded(request, (one) => hub.readModel(one))

  return {
    listFiles: (request) => bounded(request, (one) => hub.listFiles(one)),
    readModel: (request) => {
      const { modelId, revision, quantization, token, asOperator = false } = request
      if (typeof token === 'string') return readModel(request)
      const key = JSON.stringify([modelId, revision, quantization, asOperator])
      const nowMs = clock.monotonicMs()
      const known = kept.get(key)
      if (known !== undefined && nowMs - known.readAtMs < KEPT_MS) return known.model
      // Concurrent requests share this read, so none of them may cancel it.
      const { cancellation: _own, ...shared } = request
      const model = readModel(shared)
      kept.delete(key)
      kept.set(key, { model, readAtMs: nowMs })
      model.catch(() => {
        if (kept.get(key)?.model === model) kept.delete(key)
      })
      const [oldest] = kept.keys()
      if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
      return model
    },
  }
}

/** Returns whether the connection failed or timed out. An error status of the hub does not count. */
function isUnreachable({ failure, cause }: HubError): boolean {
  return failure === 'unavailable' && cause instanceof OutboundFailed
}

/** Returns a cancellation that follows the caller's and also has a timeout. */
function limitTime(outer: Cancellation | undefined) {
  const cancellation = new Cancellation()
  const cancel = (reason: unknown): void => cancellation.cancel(reason)
  const timer = setTimeout(() => {
    cancel(new HubError('unavailable', 'The hub took too long.'))
  }, READ_MS_MAX)
  outer?.onCancel(cancel)
  return {
    cancellation,
    end: () => {
      clearTimeout(timer)
      outer?.offCancel(cancel)
    },
  }
}
