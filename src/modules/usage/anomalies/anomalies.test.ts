import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { DAY_MS, HOUR_MS } from '../usage-range.ts'
import { setUsageStage, type UsageStage } from '../testing/usage-stage.ts'
import { isUnusual } from './find-anomaly.ts'
import { readComparison } from './read-comparison.ts'
import { readToldAnomaly, tellAnomalies } from './tell-anomalies.ts'

const DOLLAR = 1_000_000_000

describe('a day is unusual', () => {
  const usual = [2, 2.2, 1.9, 2.1].map((usd) => usd * DOLLAR)

  test.each([
    ['if it costs a multiple of the same weekdays', 12, usual, true],
    ['not for less than three times as much', 5.9, usual, false],
    ['not while fewer than four weekdays are known', 12, usual.slice(1), false],
    ['not for cents', 0.9, [0, 0, 0, 0], false],
    ['if nothing is usual', 1, [0, 0, 0, 0], true],
    ['not where weekdays differ as much', 30, [1, 20, 4, 25, 2, 18].map((usd) => usd * DOLLAR), false],
    ['although one weekday was extraordinary', 12, [...usual, 500 * DOLLAR], true],
  ])('%s', (_name, usd, before, expected) => {
    expect(isUnusual({ spent: usd * DOLLAR, before })).toBe(expected)
  })
})

describe('the comparison with the same weekdays', () => {
  let stage: UsageStage
  const [search, batch] = [createId(), createId()]
  beforeAll(async () => {
    stage = await setUsageStage()
  })
  afterAll(() => stage.close())

  /** What was used so many weeks ago, at an hour of the day. */
  const use = (
    accountId: string,
    weeks: number,
    hour: number,
    [keyId, model, usd]: readonly [string, string, number],
  ) =>
    stage.database.query(
      `INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, writer, environment, requests,
         prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd)
       VALUES ($1, $2, $3, $4, 'sandbox', 'chat', 1, 'live', 1, 0, 0, 0, 0, $5, 0)`,
      [
        accountId,
        new Date(Date.parse('2026-11-15T00:00:00Z') - weeks * 7 * DAY_MS + hour * HOUR_MS),
        keyId,
        model,
        Math.round(usd * DOLLAR),
      ],
    )

  async function usedAccount(): Promise<string> {
    const accountId = await stage.addAccount()
    for (let weeks = 1; weeks <= 5; weeks += 1) {
      await use(accountId, weeks, 3, [search, 'small', 2])
      // After the hour that is compared.
      await use(accountId, weeks, 20, [search, 'small', 50])
    }
    return accountId
  }

  const readerOf = (accountId: string) => ({ accountId, ownKeyId: null, projectId: null })

  test('tells how much more the same hours cost, and which key and model are why', async () => {
    const accountId = await usedAccount()
    await use(accountId, 0, 3, [search, 'small', 2])
    await use(accountId, 0, 11, [batch, 'large', 10])
    // The hour that is not over.
    await use(accountId, 0, 12, [batch, 'large', 99])
    const compared = await stage.usage.compareWeekday(readerOf(accountId))
    expect(compared).toMatchObject({
      weekdays: 5,
      spentNanoUsd: 12n * 10n ** 9n,
      usualNanoUsd: 2n * 10n ** 9n,
    })
    expect(compared.range.toMs).toBe(Date.parse('2026-11-15T12:00:00Z'))
    expect(compared.anomaly).toMatchObject({
      factor: 6,
      causes: [
        { dimension: 'key', id: batch, spentNanoUsd: 10n * 10n ** 9n, usualNanoUsd: 0n, share: 1 },
        { dimension: 'model', id: 'large', share: 1 },
        { dimension: 'project', id: accountId, share: 1 },
      ],
    })
    const own = await stage.usage.compareWeekday({ ...readerOf(accountId), ownKeyId: search })
    expect([own.spentNanoUsd, own.anomaly]).toEqual([2n * 10n ** 9n, null])
  })

  test('reads the weeks once a minute for each reader, however often and at once it asks', async () => {
    const accountId = await usedAccount()
    const own = { ...readerOf(accountId), ownKeyId: search }
    stage.statements.length = 0
    const askAll = () =>
      Promise.all([readerOf(accountId), own, own, own].map((reader) => stage.usage.compareWeekday(reader)))
    expect((await askAll()).map(({ weekdays }) => weekdays)).toEqual([5, 5, 5, 5])
    await askAll()
    expect(stage.statements).toHaveLength(2)
    stage.nowMs += 60_000
    await askAll()
    expect(stage.statements).toHaveLength(4)
    stage.nowMs -= 60_000
  })

  test('compares the same hours of UTC, also where the time zone of the database has changed its clocks', async () => {
    const accountId = await stage.addAccount()
    for (let weeks = 0; weeks <= 5; weeks += 1) await use(accountId, weeks, 11, [search, 'small', 2])
    const compared = await stage.database.transaction(async (transaction) => {
      await transaction.query(`SET LOCAL TimeZone = 'America/New_York'`)
      return readComparison(transaction, readerOf(accountId), stage.nowMs)
    })
    expect(compared).toMatchObject({ weekdays: 5, usualNanoUsd: 2n * 10n ** 9n })
  })

  test('tells an account with a webhook once per day and cause, whichever processes look', async () => {
    const [told, silent] = [await usedAccount(), await usedAccount()]
    await stage.database.query(
      `INSERT INTO budget_alert_settings (account_id, thresholds_percent, webhook_url) VALUES ($1, '{}', 'https://example.com/hook')`,
      [told],
    )
    for (const accountId of [told, silent]) {
      await stage.database.query(
        'INSERT INTO spend_by_day (account_id, day, key_id, spent_nano_usd, writer) VALUES ($1, $2, $3, 1, 1)',
        [accountId, '2026-11-15', batch],
      )
      await use(accountId, 0, 11, [batch, 'large', 10])
    }
    const queued: string[] = []
    const tell = () =>
      tellAnomalies({
        database: stage.database,
        nowMs: stage.nowMs,
        logger: silentLogger,
        describe: ({ anomaly }) => ({ factor: anomaly?.factor }),
        canMail: false,
        queueWebhooks: async (_transaction, { accountId, usageAnomalyId }) =>
          void queued.push(`${accountId} ${usageAnomalyId}`),
      })
    expect((await Promise.all([tell(), tell()])).toSorted()).toEqual([0, 1])
    const [accountId = '', anomalyId = ''] = queued[0]?.split(' ') ?? []
    expect(accountId).toBe(told)
    expect(await readToldAnomaly(stage.database, told, anomalyId)).toMatchObject({ content: { factor: 5 } })
    await expect(readToldAnomaly(stage.database, silent, anomalyId)).rejects.toMatchObject({
      code: 'not_found',
    })
    stage.nowMs += HOUR_MS
    expect(await tell()).toBe(0)
    await use(told, 0, 12, [search, 'huge', 90])
    stage.nowMs += HOUR_MS
    expect(await tell()).toBe(1)
    stage.nowMs -= 2 * HOUR_MS
  })

  test('an account that cannot be told keeps no other one waiting', async () => {
    const accountIds = [await usedAccount(), await usedAccount()].toSorted()
    for (const accountId of accountIds) {
      await stage.database.query(
        `INSERT INTO budget_alert_settings (account_id, thresholds_percent, webhook_url) VALUES ($1, '{}', 'https://example.com/hook')`,
        [accountId],
      )
      await stage.database.query(
        'INSERT INTO spend_by_day (account_id, day, key_id, spent_nano_usd, writer) VALUES ($1, $2, $3, 1, 1)',
        [accountId, '2026-11-15', batch],
      )
      await use(accountId, 0, 11, [batch, accountId, 10])
    }
    const told: string[] = []
    stage.nowMs += 3 * HOUR_MS
    await tellAnomalies({
      database: stage.database,
      nowMs: stage.nowMs,
      logger: silentLogger,
      describe: () => ({}),
      canMail: false,
      queueWebhooks: async (transaction, { accountId }) => {
        if (accountId === accountIds[0]) await transaction.query('SELECT 1 / 0')
        told.push(accountId)
      },
    })
    stage.nowMs -= 3 * HOUR_MS
    expect(told).toContain(accountIds[1])
    expect(
      await stage.database.query('SELECT FROM usage_anomalies WHERE account_id = $1', [accountIds[0]]),
    ).toEqual([])
  })

  test('finds nothing in a usual day and in an account that was just made', async () => {
    const accountId = await usedAccount()
    await use(accountId, 0, 4, [search, 'small', 2.5])
    expect((await stage.usage.compareWeekday(readerOf(accountId))).anomaly).toBeNull()
    const young = await stage.addAccount()
    await use(young, 0, 4, [search, 'small', 99])
    expect(await stage.usage.compareWeekday(readerOf(young))).toMatchObject({ weekdays: 0, anomaly: null })
    expect(await stage.usage.compareWeekday(readerOf(await stage.addAccount()))).toMatchObject({
      spentNanoUsd: 0n,
      anomaly: null,
    })
  })
})
