import { afterEach, describe, expect, test } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createKey, limitEverybody, sendChat, startGateways } from './gateways.ts'

let close = async () => {}

afterEach(() => close())

async function start(settings: Record<string, string> = {}): Promise<TestGateway> {
  const started = await startGateways(1, settings)
  close = started.close
  const [gateway] = started.gateways
  if (!gateway) throw new Error('no gateway')
  return gateway
}

interface BadBody {
  readonly body: string
  readonly headers?: Record<string, string>
  readonly status: number
}

const DEEP = '['.repeat(5_000) + ']'.repeat(5_000)
const BAD_BODIES: Readonly<Record<string, BadBody>> = {
  'no JSON': { body: '{', status: 400 },
  'too deep': { body: `{"model":"gpt-4o-mini","x":${DEEP}}`, status: 400 },
  'against the schema': { body: '{"model":5,"name":5}', status: 400 },
  'of another type': { body: 'hello', headers: { 'content-type': 'application/xml' }, status: 415 },
  'too large': { body: `{"model":"${'x'.repeat(70_000)}"}`, status: 413 },
}
const SMALL = { PARKWAY_BODY_BYTES_MAX: '65536' }

describe.each([
  ['directly', '/v1/chat/completions'],
  ['by the framework', '/v1/images/generations'],
])('a body that is refused %s', (_, path) => {
  test.each(Object.entries(BAD_BODIES))('counts against the key: %s', async (_name, bad) => {
    const gateway = await start(SMALL)
    const key = await createKey(gateway, { requests_per_minute: 1 })
    const send = async () => {
      const { body, headers = {} } = bad
      const answer = await gateway.request('POST', path, { key, body, headers })
      return [answer.status, answer.body.error.code, Number(answer.headers.get('retry-after')) > 0]
    }
    expect(await send()).toEqual([bad.status, expect.any(String), false])
    expect(await send()).toEqual([429, 'rate_limit_exceeded', true])
    // The body of a refused request is not read, so the request is not counted again.
    expect(await send()).toEqual([429, 'rate_limit_exceeded', true])
    expect((await sendChat(gateway, key)).status).toBe(429)
    // Other keys from the same address still work, and so do requests without a body.
    expect((await sendChat(gateway)).status).toBe(200)
    expect((await gateway.request('GET', '/v1/models', { key })).status).toBe(200)
  })
})

const refuse = (gateway: TestGateway, key: string, body = '{') =>
  gateway.request('POST', '/v1/chat/completions', { key, body }).then(({ status }) => status)

test('has its bytes counted as tokens', async () => {
  const gateway = await start(limitEverybody({ tokens_per_minute: 10_000 }))
  const key = await createKey(gateway, {})
  const body = `{"model":5,"x":"${'x'.repeat(30_000)}"}`
  expect([await refuse(gateway, key, body), await refuse(gateway, key, body)]).toEqual([400, 429])
})

test('counts for all keys of an account together', async () => {
  const gateway = await start(limitEverybody({ requests_per_minute: 1 }))
  const keys = [await createKey(gateway, {}), await createKey(gateway, {})] as const
  expect([await refuse(gateway, keys[0]), await refuse(gateway, keys[1])]).toEqual([400, 429])
  const { body } = await gateway.request('GET', '/metrics')
  expect(body).toMatch(/parkway_limit_refusals_total\{layer="tenant_refused"\} 1/)
})

test('a raised limit applies at once', async () => {
  const gateway = await start()
  const key = await createKey(gateway, { requests_per_minute: 1 })
  expect([await refuse(gateway, key), await refuse(gateway, key)]).toEqual([400, 429])
  const { body } = await gateway.request('GET', '/v1/tenants/me/api-keys')
  const [{ id }] = body.data.filter((entry: { name: string }) => entry.name === 'a key')
  await gateway.request('PATCH', `/v1/tenants/me/api-keys/${id}`, { body: { requests_per_minute: 6_000 } })
  await expect.poll(() => refuse(gateway, key)).toBe(400)
})

test('an inference that is refused after its admission is counted once', async () => {
  const gateway = await start()
  const key = await createKey(gateway, { requests_per_minute: 2 })
  const ask = () => sendChat(gateway, key, { model: 'no-such-model' }).then(({ status }) => status)
  expect([await ask(), await ask(), await ask()]).toEqual([404, 404, 429])
})
