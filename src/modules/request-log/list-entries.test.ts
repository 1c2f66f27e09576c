import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setUsageStage, type UsageStage } from '../usage/testing/usage-stage.ts'
import { writeUsage } from '../usage/testing/write-usage.ts'
import { listEntries, type LogQuery } from './list-entries.ts'
import { CHARGED } from './log-parts.ts'

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

/** Follows the cursor to the end. */
async function readAll(filter: LogQuery['filter'], limit: number, scannedMax: number): Promise<string[]> {
  const found: string[] = []
  let afterId: string | null = null
  do {
    const query: LogQuery = { accountId, range, filter, requestUuid: null, page: { limit, afterId } }
    const page = await listEntries(stage.database, [{ part: CHARGED, range }], query, scannedMax)
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    found.push(...page.entries.map(({ id }) => id))
    if (page.nextCursor !== null && afterId !== null) expect(page.nextCursor < afterId).toBe(true)
    afterId = page.nextCursor
  } while (afterId !== null)
  return found
}

test('pages of any size have every matching request once, newest first, however few rows a page reads', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 14 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 6 }),
      async (matches, limit, scannedMax) => {
        accountId = await stage.addAccount('Ada')
        const ids = await writeUsage(
          stage.database,
          matches.map((isMatch, index) => ({
            accountId,
            at: new Date(Date.parse('2026-11-11T10:00:00Z') + index).toISOString(),
            latencyMs: isMatch ? 500 : 5,
          })),
        )
        const expected = ids.filter((_, index) => matches[index]).toReversed()
        expect(await readAll({ latencyMsMin: 100 }, limit, scannedMax)).toEqual(expected)
      },
    ),
    { numRuns: 25 },
  )
})
