import { afterEach, expect, test } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createKey, startGateways } from './gateways.ts'

let close = async () => {}

afterEach(() => close())

async function start(count: number, strangers: object, settings: Record<string, string> = {}) {
  const started = await startGateways(count, { PARKWAY_LIMITS: JSON.stringify({ strangers }), ...settings })
  close = started.close
  const [first, second = first] = started.gateways
  if (!first || !second) throw new Error('no gateway')
  return { first, second }
}

const WRONG = 'pk-dev-WrongWrongWrongWrongWrongWrongWrongWrong'

const guess = async (gateway: TestGateway, headers: Record<string, string> = {}) => {
  const answer = await gateway.request('GET', '/v1/models', { key: WRONG, headers })
  return [answer.status, answer.body.error.code, answer.headers.get('retry-after')]
}

/** Ends soon: if a guess comes after the wait on a slow machine, it gets 401, which makes the next wait longer. */
async function guessUntilRefused(gateway: TestGateway, headers: Record<string, string> = {}) {
  for (;;) {
    const outcome = await guess(gateway, headers)
    if (outcome[0] !== 401) return outcome
  }
}

test('an address that keeps failing waits longer and longer', async () => {
  const { first } = await start(1, { failures_per_minute: 3 })
  for (let index = 0; index < 4; index += 1) expect((await guess(first))[0]).toBe(401)
  const refused = await guessUntilRefused(first)
  expect(refused).toEqual([429, 'rate_limit_exceeded', expect.stringMatching(/^\d+$/)])
  const chat = () => first.request('POST', '/v1/chat/completions', { key: null, body: {} })
  await expect.poll(async () => (await chat()).status).toBe(429)
  await expect.poll(async () => Number((await guess(first))[2])).toBeGreaterThan(Number(refused[2]))
})

test('a failing address waits in every process', async () => {
  const { first, second } = await start(2, { failures_per_minute: 1 })
  await guess(first)
  await guess(first)
  await expect.poll(() => guess(second)).toEqual([429, 'rate_limit_exceeded', expect.any(String)])
})

test('a failing address does not affect a valid key from the same address, cached or new', async () => {
  const { first } = await start(1, { failures_per_minute: 1 })
  expect((await first.request('GET', '/v1/models')).status).toBe(200)
  for (let index = 0; index < 6; index += 1) await guess(first)
  expect((await guessUntilRefused(first))[0]).toBe(429)
  expect((await first.request('GET', '/v1/models')).status).toBe(200)
  const key = await createKey(first, {})
  expect((await first.request('GET', '/v1/models', { key })).status).toBe(200)
})

test('a failing address is identified by its own address behind a proxy, and by its IPv6 network', async () => {
  const { first } = await start(1, { failures_per_minute: 1 }, { PARKWAY_TRUSTED_PROXIES: '127.0.0.1' })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  for (let index = 0; index < 2; index += 1) await guess(first, from('2001:db8:1:2::1'))
  expect((await guessUntilRefused(first, from('2001:db8:1:2:ffff::9')))[0]).toBe(429)
  expect((await guess(first, from('2001:db8:1:3::1')))[0]).toBe(401)
})

test('a failing address may read the documentation occasionally, and the health checks at any time', async () => {
  const { first } = await start(1, { requests_per_minute: 2 })
  const read = async (path: string) => (await first.request('GET', path, { key: null })).status
  expect([await read('/openapi.json'), await read('/openapi.json')]).toEqual([200, 200])
  const refused = await first.request('GET', '/openapi.json', { key: null })
  const seconds = Number(refused.headers.get('retry-after'))
  expect([refused.status, seconds > 0, seconds <= 30]).toEqual([429, true, true])
  expect([await read('/healthz'), await read('/readyz'), await read('/metrics')]).toEqual([200, 200, 200])
})

test('refusals are counted by the layer that refused', async () => {
  const { first } = await start(1, { failures_per_minute: 1 })
  for (let refusals = 0; refusals < 2; refusals += 1) await guessUntilRefused(first)
  const key = await createKey(first, { requests_per_minute: 1 })
  const chat = () =>
    first.request('POST', '/v1/chat/completions', {
      key,
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
    })
  expect([(await chat()).status, (await chat()).status]).toEqual([200, 429])
  const { body } = await first.request('GET', '/metrics', { key: null })
  expect(body).toMatch(/parkway_limit_refusals_total\{layer="address"\} 2/)
  expect(body).toMatch(/parkway_limit_refusals_total\{layer="key_requests"\} 1/)
  expect(body).toMatch(/parkway_limits_database_away 0/)
})
