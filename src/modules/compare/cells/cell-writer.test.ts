import { expect, test } from 'vitest'
import type { Database } from '../../../storage/database.ts'
import { createCellWriter, type CellEnd } from './cell-writer.ts'

interface Written {
  readonly prompt_index: number
  readonly status: string
  readonly error_code?: string
  readonly charged: string
  readonly score?: number
}

test('a result that the database refuses is written as a failure, with its charge, and spares the others', async () => {
  const written: Written[] = []
  const query = async (_: string, values: readonly unknown[]) => {
    if (values.length === 1) return []
    const rows: Written[] = JSON.parse(String(values[2]))
    if (rows.some(({ score }) => score === 1e-50))
      throw Object.assign(new Error('out of range'), { code: '22003' })
    written.push(...rows)
    return rows
  }
  const transaction = (work: (queryable: { query: typeof query }) => unknown) => work({ query })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the writer needs no more of a database
  const database = { transaction } as unknown as Database
  const claim = { runId: 'run', workerId: 'worker', number: 1 }
  const writer = createCellWriter({ database, clock: { nowMs: () => 0, monotonicMs: () => 0 } }, claim)
  const end = (promptIndex: number, score: number): CellEnd => ({
    key: { promptIndex, repeat: 0, lanePosition: 0 },
    status: 'completed',
    chargedNanoUsd: 7n,
    answer: {
      output: 'yes',
      reasoning: null,
      toolCalls: null,
      usage: null,
      finishReason: 'stop',
      latencyMs: 1,
      ttftMs: 1,
      model: 'm',
      provider: 'p',
      costNanoUsd: 7n,
      isCutByAmount: false,
    },
    score,
    scores: null,
  })
  const ends = [end(0, 1), end(1, 1e-50), end(2, 0)]
  expect(await Promise.all(ends.map((one) => writer.end(one)))).toEqual([true, true, true])
  expect(written.map((row) => [row.prompt_index, row.status, row.error_code, row.charged])).toEqual([
    [0, 'completed', undefined, '7'],
    [1, 'failed', 'internal_error', '7'],
    [2, 'completed', undefined, '7'],
  ])
})
