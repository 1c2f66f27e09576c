import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { deploy, startGpuGateway } from './deploy.ts'

let gateway: TestGateway

beforeAll(async () => {
  // Longer than the time after which a stream sends its first comment.
  gateway = await startGpuGateway({ PARKWAY_SANDBOX_GPU_START_MS: '20000' })
})
afterAll(() => gateway.close())

test('while an engine starts, streams get keep-alive comments, other requests wait, and both end at the timeout', async () => {
  const id = await deploy(gateway)
  const ask = (stream: boolean, seconds: number) =>
    gateway.request('POST', '/v1/chat/completions', {
      body: { model: `byom-${id}`, messages: [{ role: 'user', content: 'Hello!' }], stream },
      headers: { 'x-wake-timeout': String(seconds) },
    })
  const [streamed, whole, lateStream, lateWhole] = await Promise.all([
    ask(true, 600),
    ask(false, 600),
    ask(true, 16),
    ask(false, 16),
  ])
  expect([streamed.status, streamed.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  expect(streamed.body).toMatch(/^(: keep-alive\n\n)+data: \{/)
  expect(streamed.body).toMatch(/data: \[DONE\]\n\n$/)
  expect([whole.status, whole.body.object]).toEqual([200, 'chat.completion'])
  expect([lateWhole.status, lateWhole.body.error.code, lateWhole.headers.get('retry-after')]).toEqual([
    503,
    'deployment_waking',
    '10',
  ])
  // The status was sent with the first comment.
  expect(lateStream.status).toBe(200)
  expect(lateStream.body).toMatch(/^(: keep-alive\n\n)+data: \{"error":\{.*"deployment_waking".*\}\}\n\n$/)
}, 120_000)
