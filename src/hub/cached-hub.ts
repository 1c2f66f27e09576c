import type { Clock } from '../kernel/clock.ts'
import { HubError } from './hub-error.ts'
import type { Hub, HubModel, HubRequest } from './hub.ts'

const KEPT_MS = 300_000
const KEPT_MAX = 200
const AT_ONCE_MAX = 8

interface Kept {
  readonly model: Promise<HubModel>
  readonly readAtMs: number
}

/**
 * The hub with a memory, and a bound: one client that asks often does not make the gateway ask as often. What was read with a token is
 * not kept, because another one may not be allowed to read it.
 */
export function createCachedHub({ hub, clock }: { hub: Hub; clock: Clock }): Hub {
  const kept = new Map<string, Kept>()
  let running = 0

  const read = async (request: HubRequest): Promise<HubModel> => {
    if (running >= AT_ONCE_MAX)
      throw new HubError('unavailable', 'Too many models are being read from the hub.')
    running += 1
    try {
      return await hub.readModel(request)
    } finally {
      running -= 1
    }
  }

  return {
    readModel: (request) => {
      const { modelId, revision, token } = request
      if (typeof token === 'string') return read(request)
      const key = `${modelId} ${revision ?? ''}`
      const nowMs = clock.monotonicMs()
      const known = kept.get(key)
      if (known !== undefined && nowMs - known.readAtMs < KEPT_MS) return known.model
      // Shared with whoever asks meanwhile, so that none of them may cancel it.
      const model = read({ modelId, revision: revision ?? null })
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
