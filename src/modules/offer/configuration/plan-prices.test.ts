import { expect, onTestFinished, test, vi } from 'vitest'
import type { ModelChange } from '../models/model-change.ts'
import type { ModelChanges } from '../models/model-changes.ts'
import type { OfferedPrice } from '../models/offered-model.ts'
import { planConfiguration } from './plan-configuration.ts'

const PRICES = 5_000
const NOW_MS = 1_000_000
const WORK_MS = 1
/** Twice what a turn may take, and a piece of work. */
const TURN_MS_MAX = 17

test('the plan of a document of 5,000 prices gives way to requests all the time, and reads each stored price only a few times', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  let reads = 0
  const prices = Array.from({ length: PRICES }, (_, index) => pricedAt(index, () => (reads += 1)))
  let turnBeganMs = performance.now()
  let longestMs = 0
  let isOver = false
  const beginTurn = (): void => {
    turnBeganMs = performance.now()
    if (!isOver) setImmediate(beginTurn)
  }
  beginTurn()
  onTestFinished(() => void (isOver = true))
  const work = async (): Promise<ModelChange> => {
    vi.advanceTimersByTime(WORK_MS)
    longestMs = Math.max(longestMs, performance.now() - turnBeganMs)
    return { difference: {}, write: async () => 1n, make: async () => 1n }
  }
  const models: Pick<ModelChanges, 'addPrice' | 'removePrice' | 'fileEntryOf'> = {
    addPrice: work,
    removePrice: work,
    fileEntryOf: () => ({}),
  }
  const { steps } = await planConfiguration(
    {
      prices: prices.map(({ model, effectiveFromMs }) => ({
        model,
        price: { unit: 'request', usd: 2 },
        effectiveFromMs,
      })),
    },
    {
      stored: { version: 1n, providers: [], models: [], prices, adjustments: [] },
      offer: { models: models as ModelChanges } as Parameters<typeof planConfiguration>[1]['offer'],
      nowMs: NOW_MS,
      author: { authorKeyId: null, reason: null },
      change: async () => 1n,
    },
  )
  expect(steps).toHaveLength(2 * PRICES)
  expect(longestMs).toBeLessThanOrEqual(TURN_MS_MAX)
  expect(reads).toBeLessThan(40 * PRICES)
})

/** Ten of the future for each model. */
function pricedAt(index: number, onRead: () => void): OfferedPrice {
  const effectiveFromMs = NOW_MS + 1 + (index % 10)
  return {
    version: BigInt(index),
    model: `model-${Math.floor(index / 10)}`,
    get effectiveFromMs() {
      onRead()
      return effectiveFromMs
    },
    price: { unit: 'request', usd: 1 },
    rates: {},
    isOfFile: false,
    costs: null,
    authorKeyId: null,
    reason: null,
    createdAtMs: 0,
    withdrawnAtMs: null,
  }
}
