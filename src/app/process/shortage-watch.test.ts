import { expect, test } from 'vitest'
import { silentLogger, type Logger } from '../../kernel/logger.ts'
import { fakeClock } from '../../kernel/testing/fake-clock.ts'
import { createShortageWatch } from './shortage-watch.ts'

test('a shortage is reported periodically with the number of suppressed reports, and ends after a while', async () => {
  const time = { nowMs: 1_000 }
  const lines: unknown[] = []
  const logger: Logger = { ...silentLogger, error: (fields: unknown) => void lines.push(fields) }
  const watch = createShortageWatch({ clock: fakeClock(() => time.nowMs), logger })
  await watch.requireEnough()
  for (let count = 0; count < 500; count += 1) watch.note('EMFILE')
  expect(lines).toEqual([{ code: 'EMFILE', requests: 1 }])
  await expect(watch.requireEnough()).rejects.toThrow('EMFILE')
  time.nowMs += 10_000
  await watch.requireEnough()
  watch.note('ENOMEM')
  expect(lines).toEqual([
    { code: 'EMFILE', requests: 1 },
    { code: 'ENOMEM', requests: 500 },
  ])
})
