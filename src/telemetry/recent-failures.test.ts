import { afterEach, expect, test, vi } from 'vitest'
import { RecentFailures, type FailedCall } from './recent-failures.ts'

const call: FailedCall = {
  provider: 'openai',
  upstreamModel: 'gpt',
  model: 'gpt',
  accountId: 'a',
  failure: 'status',
  status: 500,
  code: null,
  isBreakerFailure: true,
}

afterEach(() => {
  vi.restoreAllMocks()
})

test('equal failures are counted together, the most frequent first', () => {
  const failures = new RecentFailures()
  failures.note(call)
  failures.note({ ...call, accountId: 'b' })
  failures.note({ ...call, accountId: 'b' })
  expect(failures.list()).toEqual([
    { ...call, accountId: 'b', calls: 2 },
    { ...call, calls: 1 },
  ])
})

test('failures of more than five minutes ago are not counted, and no more than 5,000 are kept', () => {
  const failures = new RecentFailures()
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  for (let count = 0; count < 6_000; count += 1) failures.note(call)
  expect(failures.list()).toEqual([{ ...call, calls: 5_000 }])
  now.mockReturnValue(1_000 + 300_001)
  expect(failures.list()).toEqual([])
})
