import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CreditWait, RECALL_MS_MAX } from './credit-wait.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const NEVER = Number.NEGATIVE_INFINITY

/** What the pool does while running requests hold all credit, with as many attempts as a chat request makes. */
async function waitInVain(recallMs: number) {
  const sinceMs = performance.now()
  let recalledMs = NEVER
  let recalls = 0
  for (const isPatient of [true, false, true]) {
    const wait = new CreditWait({ sinceMs, isPatient })
    for (;;) {
      const { isOver } = wait
      if (wait.mayRecall(recalledMs)) {
        recalls += 1
        recalledMs = await wait.recall(() => vi.advanceTimersByTimeAsync(recallMs).then(() => {}))
      } else if (isOver) break
      else await vi.advanceTimersByTimeAsync(wait.stepMs)
    }
  }
  return { tookMs: performance.now() - sinceMs, recalls }
}

describe('waiting for credit that does not come', () => {
  test.each([0, 5, 100, 399, 400, 500, RECALL_MS_MAX])(
    'takes a second at most, with other processes that answer after %d ms',
    async (recallMs) => {
      const { tookMs, recalls } = await waitInVain(recallMs)
      expect(tookMs).toBeLessThanOrEqual(1_000)
      expect(recalls).toBeLessThanOrEqual(2)
    },
  )

  test('recalls credit at its start and at its end', async () => {
    expect((await waitInVain(5)).recalls).toBe(2)
  })
})

test('a request that does not wait still recalls credit from other processes', async () => {
  const wait = new CreditWait({ isPatient: false })
  expect(wait.mayRecall(NEVER)).toBe(true)
  await wait.recall(() => Promise.resolve())
  await vi.advanceTimersByTimeAsync(1)
  expect([wait.isOver, wait.mayRecall(NEVER)]).toEqual([true, true])
  await wait.recall(() => Promise.resolve())
  expect(wait.mayRecall(NEVER)).toBe(false)
})
