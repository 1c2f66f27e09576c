import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setUsageStage, type UsageStage } from '../usage/testing/usage-stage.ts'
import { writeUsage } from '../usage/testing/write-usage.ts'
import { listEntries, type LogQuery } from './list-entries.ts'
import { CHARGED, FAILED } from './log-parts.ts'

let stage: UsageStage
let accountId: string

beforeAll(async () => {
  stage = await setUsageStage()
})

beforeEach(async () => {
  accountId = await stage.addAccount('Ada')
})

afterAll(async () => {
  await stage.close()
})

const range = { fromMs: 0, toMs: Date.parse('2027-01-01T00:00:00Z') }

const PARTS = [CHARGED, FAILED].map((part) => ({ part, range }))

/** Follows the cursor to the end. */
async function readAll(filter: LogQuery['filter'], limit: number, scannedMax: number): Promise<string[]> {
  const found: string[] = []
  let afterId: string | null = null
  do {
    const query: LogQuery = {
      accountId,
      projectId: null,
      ownKeyId: null,
      range,
      filter,
      requestUuid: null,
      page: { limit, afterId },
    }
    const page = await listEntries(stage.database, PARTS, query, scannedMax)
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    found.push(...page.entries.map(({ id }) => id))
    if (page.nextCursor !== null && afterId !== null) expect(page.nextCursor < afterId).toBe(true)
    afterId = page.nextCursor
  } while (afterId !== null)
  return found
}

const COPY_TO_FAILED = `
  INSERT INTO failed_requests
  SELECT account_id, id, key_id, environment, operation, model, provider, 'failed', 500, NULL, latency_ms, NULL, '', created_at
  FROM usage_records WHERE account_id = $1 AND id = $2`

test('pages of any size have every matching request once, newest first, however few rows a page reads', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ isMatch: fc.boolean(), isFailed: fc.boolean(), isCharged: fc.boolean() }), {
        maxLength: 14,
      }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 6 }),
      async (requests, limit, scannedMax) => {
        accountId = await stage.addAccount('Ada')
        const ids = await writeUsage(
          stage.database,
          requests.map(({ isMatch }, index) => ({
            accountId,
            at: new Date(Date.parse('2026-11-11T10:00:00Z') + index).toISOString(),
            latencyMs: isMatch ? 500 : 5,
          })),
        )
        for (const [index, { isFailed, isCharged }] of requests.entries()) {
          if (isFailed) await stage.database.query(COPY_TO_FAILED, [accountId, ids[index]])
          // A repeated request may have both rows.
          if (isFailed && !isCharged)
            await stage.database.query('DELETE FROM usage_records WHERE id = $1', [ids[index]])
        }
        const expected = ids.filter((_, index) => requests[index]?.isMatch).toReversed()
        expect(await readAll({ latencyMsMin: 100 }, limit, scannedMax)).toEqual(expected)
      },
    ),
    { numRuns: 25 },
  )
})
