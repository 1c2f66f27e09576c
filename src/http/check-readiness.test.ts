import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLogger } from '../kernel/logger.ts'
import { checkReadiness } from './check-readiness.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a hanging check is awaited once, and then fails at once while it hangs', async () => {
  const asked: PromiseWithResolvers<void>[] = []
  const ask = checkReadiness({
    logger: silentLogger,
    checks: {
      storage: () => {
        const one = Promise.withResolvers<void>()
        asked.push(one)
        return one.promise
      },
    },
  })
  const first = ask()
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await first).checks['storage']?.status).toBe('timed_out')
  expect((await ask()).isReady).toBe(false)
  expect(asked).toHaveLength(1)

  asked[0]?.resolve()
  await vi.advanceTimersByTimeAsync(0)
  const recovered = ask()
  asked[1]?.resolve()
  expect((await recovered).isReady).toBe(true)
})

test('a check that never ends is started again after a while', async () => {
  let asked = 0
  const ask = checkReadiness({
    logger: silentLogger,
    checks: {
      storage: () => {
        asked += 1
        return asked === 1 ? new Promise<void>(() => {}) : Promise.resolve()
      },
    },
  })
  const first = ask()
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await first).isReady).toBe(false)
  await vi.advanceTimersByTimeAsync(6_000)
  expect((await ask()).isReady).toBe(true)
})
