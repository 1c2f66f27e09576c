import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { chatOf, startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { eventually } from '../support/eventually.ts'
import { longOr } from '../support/long-or.ts'
import { receiveWebhooks, type WebhookReceiver } from './receive-webhooks.ts'

const ACCOUNTS = 8
/** At least two, so that each of the two processes dies once. */
const ROUNDS = longOr(6, 2)
/** Six requests of an account, which all cost the same, reach all of its thresholds. */
const REQUESTS_OF_EACH = 6 / ROUNDS
/** A delivery that failed because the machine was busy is repeated after minutes. */
const POLL = { timeout: 500_000, interval: 250 }

let upstream: MeteredUpstream
let hook: WebhookReceiver
let fleet: Fleet

beforeAll(async () => {
  upstream = await startMeteredUpstream({ latencyMs: () => 5, tokensOf: () => 8 })
  hook = await receiveWebhooks()
  const environment = { PARKWAY_LEASE_MS: '2000', PARKWAY_OUTBOUND_ALLOW: hook.host, LOG_LEVEL: 'error' }
  fleet = await startFleet({ upstream, environment })
})
afterAll(async () => {
  await fleet.close()
  hook.close()
  await upstream.close()
})

test('while processes are killed, each threshold raises one alert and one delivery', async () => {
  const gateways: Gateway[] = [await fleet.start(), await fleet.start()]
  const spenders: Spender[] = []
  for (let count = 0; count < ACCOUNTS; count += 1) {
    const spender = await fleet.createSpender({ creditUsd: 10 })
    await fleet.manage('PATCH', `/v1/admin/accounts/${spender.accountId}/budget`, { monthly_usd: 0.003 })
    await call('PATCH', `${gateways[0]?.url}/v1/budget-alerts/settings`, {
      key: spender.key,
      body: { thresholds_percent: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], webhook_url: hook.url },
    })
    spenders.push(spender)
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all(
      Array.from({ length: REQUESTS_OF_EACH }, () => spenders)
        .flat()
        .map(({ key }, index) =>
          // All six must be charged to reach the thresholds.
          eventually(async () => {
            const { status } = await call('POST', `${gateways[index % 2]?.url}/v1/chat/completions`, {
              key,
              body: chatOf('Hi', { max_tokens: 20 }),
            })
            expect(status).toBe(200)
          }),
        ),
    )
    gateways[round % 2]?.program.kill('SIGKILL')
    gateways[round % 2] = await fleet.start()
  }

  const counts = () =>
    fleet.database.query<{ alerts: number; deliveries: number; checks: number; told: number }>(
      `SELECT (SELECT count(*)::int FROM budget_alerts) AS alerts,
         (SELECT count(DISTINCT (account_id, period, period_start, threshold_percent))::int FROM budget_alerts) AS distinct,
         (SELECT count(*)::int FROM webhook_deliveries) AS deliveries,
         (SELECT count(*)::int FROM webhook_deliveries WHERE status = 'delivered') AS told,
         (SELECT count(*)::int FROM budget_checks) AS checks`,
    )
  const all = ACCOUNTS * 10
  await expect
    .poll(counts, POLL)
    .toEqual([{ alerts: all, distinct: all, deliveries: all, told: all, checks: 0 }])
  const told = new Set(hook.received.map(({ text }) => JSON.parse(text).data.id))
  expect(told.size).toBe(all)
  expect(await fleet.findDifferences()).toEqual([])
}, 600_000)
