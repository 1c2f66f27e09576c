import { expect, test } from 'vitest'
import { silentLogger } from '../../kernel/logger.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { reportUncovered } from './report-uncovered.ts'

test('the uncovered cost is logged with the request and the account, and noted as owed', async () => {
  const lines: unknown[] = []
  const owed: unknown[] = []
  const report = reportUncovered({
    metrics: createMetrics({ isKnownModel: () => true }),
    logger: {
      ...silentLogger,
      error: (fields: object, message: string) => void lines.push([message, fields]),
    },
    ledger: { owe: async (order) => void owed.push(order) },
  })
  const cost = { requestId: 'req_1', accountId: 'a1', model: 'talker', uncoveredNanoUsd: 490_011_000n }
  report({ ...cost, isOwed: true })
  expect(owed).toEqual([{ requestId: 'req_1', accountId: 'a1', amountNanoUsd: 490_011_000n }])
  expect(lines).toEqual([
    [
      expect.stringContaining('than its account had'),
      { requestId: 'req_1', accountId: 'a1', model: 'talker', uncoveredUsd: 0.490011, isOwed: true },
    ],
  ])
})
