import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { eventually } from '../support/eventually.ts'
import { longOr } from '../support/long-or.ts'
import { startStripeServer, STRIPE_SECRET_KEY, type StripeServer } from '../upstreams/stripe-server.ts'
import { AUTO_TOP_UP, RULES, SAVED_CARD } from './auto-top-up-stage.ts'

const ACCOUNTS = 6
/** At least two, so that each of the two processes dies once. */
const ROUNDS = longOr(8, 3)

let upstream: MeteredUpstream
let stripe: StripeServer
let fleet: Fleet

beforeAll(async () => {
  upstream = await startMeteredUpstream({ latencyMs: () => 5 })
  stripe = await startStripeServer()
  fleet = await startFleet({
    upstream,
    environment: {
      STRIPE_SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: 'whsec_local',
      STRIPE_API_BASE_URL: stripe.baseUrl,
      PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '50',
      PARKWAY_ALLOW_TEST_CHECKOUT: 'true',
      PARKWAY_LEASE_MS: '2000',
      LOG_LEVEL: 'error',
    },
  })
})
afterAll(async () => {
  await fleet.close()
  await stripe.close()
  await upstream.close()
})

test('while processes are killed between a charge and its credit, each top-up is charged and credited once', async () => {
  const gateways: Gateway[] = [await fleet.start(), await fleet.start()]
  const url = gateways[0]?.url ?? ''
  const holders: Spender[] = []
  for (let count = 0; count < ACCOUNTS; count += 1) {
    const holder = await fleet.createSpender({ creditUsd: 1 })
    const { body } = await call('POST', url + SAVED_CARD, { key: holder.key, body: {} })
    stripe.state.saveCard(body.url.split('/').at(-1))
    expect((await call('GET', url + AUTO_TOP_UP, { key: holder.key })).body.card).not.toBeNull()
    holders.push(holder)
  }
  // Stripe has charged, and the process that asked dies before it hears.
  stripe.delayAnswers(150)
  await Promise.all(
    holders.map(({ key }) => call('PATCH', url + AUTO_TOP_UP, { key, body: { enabled: true, ...RULES } })),
  )
  for (let round = 0; round < ROUNDS; round += 1) {
    const charged = stripe.state.savedCharges.length
    await makeDue()
    if (charged < ACCOUNTS)
      await eventually(() => expect(stripe.state.savedCharges.length).toBeGreaterThan(charged))
    gateways[round % 2]?.program.kill('SIGKILL')
    gateways[round % 2] = await fleet.start()
  }
  stripe.delayAnswers(0)
  await eventually(async () => {
    await makeDue()
    const open = await fleet.database.query(
      'SELECT payment_id FROM auto_top_up_charges WHERE check_at IS NOT NULL',
    )
    expect([stripe.state.savedCharges.length, open]).toEqual([ACCOUNTS, []])
  })
  for (const { accountId } of holders) {
    const { body } = await fleet.manage('GET', `/v1/admin/accounts/${accountId}`)
    expect(body.balance_usd).toBe(21)
  }
  const told = await fleet.database.query<{ type: string; count: bigint }>(
    'SELECT type, count(*) AS count FROM account_notices GROUP BY type',
  )
  expect(told).toEqual([{ type: 'auto_top_up.charged', count: BigInt(ACCOUNTS) }])
  expect(await fleet.findDifferences()).toEqual([])
}, 300_000)

/** A charge that a dead process has claimed is another's after a minute and a half. */
async function makeDue(): Promise<void> {
  await fleet.database.query('UPDATE auto_top_up_charges SET check_at = now() WHERE check_at IS NOT NULL')
}
