import { expect, test } from 'vitest'
import { silentLogger } from '../../kernel/logger.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { reportUncovered } from './report-uncovered.ts'

test('the uncovered cost is logged with the request and the account', () => {
  const lines: unknown[] = []
  const report = reportUncovered({
    metrics: createMetrics({ isKnownModel: () => true }),
    logger: {
      ...silentLogger,
      error: (fields: object, message: string) => void lines.push([message, fields]),
    },
  })
  const cost = { requestId: 'req_1', accountId: 'a1', model: 'talker', uncoveredNanoUsd: 490_011_000n }
  report({ ...cost, owedNanoUsd: 90_000_000n })
  expect(lines).toEqual([
    [
      expect.stringContaining('than its account had'),
      { requestId: 'req_1', accountId: 'a1', model: 'talker', uncoveredUsd: 0.490011, owedUsd: 0.09 },
    ],
  ])
})
