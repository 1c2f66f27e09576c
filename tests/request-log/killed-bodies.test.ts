import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { chatOf, startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'

const ROUNDS = longOr(8, 2)
const REQUESTS_OF_EACH = 12
const POLL = { timeout: 60_000, interval: 200 }

let upstream: MeteredUpstream
let fleet: Fleet

beforeAll(async () => {
  upstream = await startMeteredUpstream({ latencyMs: () => randomShare() * 300 })
  const environment = { PARKWAY_LEASE_MS: '2000', PARKWAY_BODY_STORAGE: 'accounts', LOG_LEVEL: 'error' }
  fleet = await startFleet({ upstream, environment })
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
})

/** What only this account sends. */
const markOf = ({ accountId }: Spender): string => `This belongs to ${accountId}.`

/** Asks again until the gateway is killed, because a busy database may refuse the first requests. */
async function askMany({ url }: Gateway, spenders: readonly Spender[], killed: AbortSignal): Promise<void> {
  while (!killed.aborted) {
    const asked = spenders.flatMap((spender) =>
      Array.from({ length: REQUESTS_OF_EACH }, () =>
        call('POST', `${url}/v1/chat/completions`, {
          key: spender.key,
          body: chatOf(markOf(spender), { max_tokens: 20 }),
        }).catch(() => null),
      ),
    )
    await Promise.all(asked)
  }
}

test('a killed process loses bodies at most: none is mixed up or half written, and the count is right', async () => {
  let gateway = await fleet.start()
  const spenders = [
    await fleet.createSpender({ creditUsd: 10 }),
    await fleet.createSpender({ creditUsd: 10 }),
  ]
  for (const { key } of spenders) {
    const stored = await call('PATCH', `${gateway.url}/v1/body-storage`, { key, body: { enabled: true } })
    expect(stored.status).toBe(200)
  }
  const countRows = async (): Promise<number> =>
    (await fleet.database.query('SELECT FROM request_bodies')).length
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = await countRows()
    const killed = new AbortController()
    const asking = askMany(gateway, spenders, killed.signal)
    // The process dies while it writes: the first bodies of this round are stored, others wait.
    await expect.poll(countRows, POLL).toBeGreaterThan(before)
    gateway.program.kill('SIGKILL')
    killed.abort()
    await asking
    gateway = await fleet.start()
  }

  const rows = await fleet.database.query<{ id: string; account_id: string }>(
    'SELECT id, account_id FROM request_bodies',
  )
  expect(rows.length).toBeGreaterThanOrEqual(ROUNDS)
  for (const { id, account_id: accountId } of rows) {
    const [owner, other] = spenders.toSorted((one) => (one.accountId === accountId ? -1 : 1))
    const path = `${gateway.url}/v1/requests/${id}/body`
    const own = await call('GET', path, { key: owner?.key ?? null })
    if (own.status === 404) {
      // The body was stored and the charge was lost with the process: the log has no such request.
      expect(
        (await call('GET', `${gateway.url}/v1/requests/${id}`, { key: owner?.key ?? null })).status,
      ).toBe(404)
      continue
    }
    expect(own.status).toBe(200)
    expect(JSON.parse(own.body.request.text).messages[0].content).toBe(owner && markOf(owner))
    const answer = JSON.parse(own.body.answer.text)
    // A gateway on a busy machine may have refused the request, and stored that.
    if (answer.error === undefined) expect(answer.choices).toHaveLength(1)
    else expect(answer.error.code).toBe('service_unavailable')
    expect((await call('GET', path, { key: other?.key ?? null })).status).toBe(404)
  }

  for (const { accountId, key } of spenders) {
    const [sum] = await fleet.database.query<{ bytes: bigint }>(
      `SELECT coalesce(sum(octet_length(request) + octet_length(answer)), 0)::bigint AS bytes
       FROM request_bodies WHERE account_id = $1`,
      [accountId],
    )
    await expect
      .poll(
        async () => (await call('GET', `${gateway.url}/v1/body-storage`, { key })).body.stored_bytes,
        POLL,
      )
      .toBe(Number(sum?.bytes))
  }
  expect(await fleet.findDifferences()).toEqual([])
}, 600_000)
