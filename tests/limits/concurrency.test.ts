import { afterEach, expect, test } from 'vitest'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'
import { limitEverybody, sendChat, startGateways } from './gateways.ts'

const CHAT = '/v1/chat/completions'

let close = async () => {}

afterEach(() => close())

async function start(count: number, concurrentRequests: number): Promise<TestGateway[]> {
  const started = await startGateways(count, limitEverybody({ concurrent_requests: concurrentRequests }))
  close = started.close
  return started.gateways
}

/** A request that takes longer than any test. */
const slow = { messages: [{ role: 'user', content: '[[sandbox:latency ms=60000]] Hi' }] }

test('an account never exceeds its concurrency, over two processes together', async () => {
  const gateways = await start(2, 5)
  const leaving = new AbortController()
  const refused: TestAnswer[] = []
  const sent = Array.from({ length: 24 }, async (_, index) => {
    const body = { model: 'gpt-4o-mini', ...slow }
    const answer = await gateways[index % 2]?.request('POST', CHAT, { body, signal: leaving.signal })
    if (answer) refused.push(answer)
  })
  await expect.poll(() => refused.length).toBe(19)
  leaving.abort()
  const running = (await Promise.allSettled(sent)).filter(({ status }) => status === 'rejected')
  expect(running).toHaveLength(5)
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]))
  expect(new Set(refused.map(({ body }) => body.error.code))).toEqual(new Set(['concurrency_limit_reached']))
  expect(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1)).toBe(true)
})

test('a request that ends frees its slot, whatever its end', async () => {
  const [gateway] = await start(1, 1)
  if (!gateway) throw new Error('no gateway')
  expect((await sendChat(gateway)).status).toBe(200)
  expect((await sendChat(gateway, undefined, { model: 'nothing' })).status).toBe(404)
  const failing = { messages: [{ role: 'user', content: '[[sandbox:error status=500]] Hi' }] }
  expect((await sendChat(gateway, undefined, failing)).status).toBeGreaterThanOrEqual(500)
  const leaving = new AbortController()
  const gone = gateway.fetch('POST', CHAT, {
    body: { model: 'gpt-4o-mini', ...slow },
    signal: leaving.signal,
  })
  const isRunning = async () =>
    /requests_in_flight\{route="\/v1\/chat\/completions"\} 1/.test(
      (await gateway.request('GET', '/metrics', { key: null })).body,
    )
  const left = expect(gone).rejects.toThrow()
  await expect.poll(isRunning).toBe(true)
  leaving.abort()
  await left
  await expect.poll(async () => (await sendChat(gateway)).status).toBe(200)
  const stream = await gateway.fetch('POST', CHAT, {
    body: { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
  })
  await stream.text()
  await expect.poll(async () => (await sendChat(gateway)).status).toBe(200)
})
