import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { startFleet, type Fleet, type Gateway } from '../ledger/start-fleet.ts'
import { longOr } from '../support/long-or.ts'

const PEOPLE = longOr(5_000, 300)
const GROUPS = longOr(200, 12)
const MEMBERS = 25
const CONNECTIONS = 8
const SECONDS_MAX = 120
const RETRY_MS = 100

let upstream: MeteredUpstream
let fleet: Fleet

beforeAll(async () => {
  upstream = await startMeteredUpstream({ latencyMs: () => 1 })
  fleet = await startFleet({ upstream, environment: { LOG_LEVEL: 'error' } })
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
})

/** Does work on so many connections at once. */
async function spread<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const run = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, run))
}

test(`${PEOPLE} people and ${GROUPS} groups are synchronised, through kill -9 in the middle`, async () => {
  let gateway: Gateway = await fleet.start()
  const spender = await fleet.createSpender({ creditUsd: 1 })
  const made = await call('POST', `${gateway.url}/v1/organization/scim_tokens`, {
    key: spender.key,
    body: { name: 'Okta' },
  })
  expect([made.status, made.body]).toEqual([200, made.body])
  const key = String(made.body.value)

  /** As directories do: look for it, then create or replace it, and again if the connection breaks. */
  const put = async (kind: string, filter: string, body: object): Promise<string> => {
    for (;;) {
      try {
        const at = `${gateway.url}/scim/v2/${kind}`
        const found = await call(
          'GET',
          `${at}?excludedAttributes=members&filter=${encodeURIComponent(filter)}`,
          { key },
        )
        const id = found.body.Resources?.[0]?.id
        const written =
          id === undefined
            ? await call('POST', at, { key, body })
            : await call('PUT', `${at}/${id}`, { key, body })
        if (written.status < 300) return String(written.body.id)
        // Another attempt of the same has committed.
        if (written.status !== 409 && written.status < 500)
          throw new TypeError(`${written.status} ${JSON.stringify(written.body)}`)
      } catch (error) {
        if (error instanceof TypeError && /^\d/.test(error.message)) throw error
      }
      await delay(RETRY_MS)
    }
  }

  const people = Array.from({ length: PEOPLE }, (_, index) => `person-${index}@example.com`)
  const ids = new Map<string, string>()
  const restart = async (): Promise<void> => {
    gateway.program.kill('SIGKILL')
    gateway = await fleet.start()
  }
  const startedMs = performance.now()
  const restarts: Promise<void>[] = []
  await spread(people, async (email) => {
    const id = await put('Users', `userName eq "${email}"`, {
      userName: email,
      displayName: email,
      emails: [{ value: email }],
    })
    ids.set(email, id)
    if (ids.size >= PEOPLE / 2 && restarts.length === 0) restarts.push(restart())
  })
  const groups = Array.from({ length: GROUPS }, (_, index) => index)
  let groupsDone = 0
  await Promise.all(restarts)
  await spread(groups, async (index) => {
    const members = Array.from({ length: MEMBERS }, (_, member) => ({
      value: ids.get(people[(index * MEMBERS + member) % PEOPLE] ?? ''),
    }))
    await put('Groups', `displayName eq "Group ${index}"`, { displayName: `Group ${index}`, members })
    groupsDone += 1
    if (groupsDone >= GROUPS / 2 && restarts.length === 1) restarts.push(restart())
  })
  await Promise.all(restarts)
  const seconds = (performance.now() - startedMs) / 1000

  const counted = await call('GET', `${gateway.url}/scim/v2/Users?count=0`, { key })
  const state = await call('GET', `${gateway.url}/v1/organization/scim`, { key: spender.key })
  expect([counted.body.totalResults, state.body.users, state.body.groups]).toEqual([PEOPLE, PEOPLE, GROUPS])
  const memberships = await fleet.database.query('SELECT FROM group_members WHERE account_id = $1', [
    spender.accountId,
  ])
  expect(memberships).toHaveLength(GROUPS * MEMBERS)
  expect(seconds).toBeLessThan(SECONDS_MAX)
})
