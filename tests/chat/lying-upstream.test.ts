import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitForTask } from '../generation/wait-for-task.ts'
import { chunksOf, failure, stream } from '../upstreams/openai-server.ts'
import { startChatGateway, UPSTREAM_KEY, type ChatGateway } from './start-chat-gateway.ts'

/** An error message in which the upstream, or a proxy in front of it, repeats the credential and internal addresses. */
const MESSAGE =
  `Bad request with {"authorization":"Bearer ${UPSTREAM_KEY}"} (${UPSTREAM_KEY}) ` +
  'at http://vllm-3:8000/v1 via 10.20.30.40:9000: temperature is too high'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway()
})

afterAll(async () => {
  await gateway.close()
})

function expectClean(text: string): void {
  expect(text).toContain('temperature is too high')
  for (const secret of [UPSTREAM_KEY, 'vllm-3', '10.20.30.40']) expect(text).not.toContain(secret)
}

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }

test.each([{}, { stream: true }])(
  '400: a key or address that the upstream echoes does not reach the client, %j',
  async (members) => {
    gateway.upstream.respondWith(failure(400, { message: MESSAGE, param: `x ${UPSTREAM_KEY}` }))
    const { status, body } = await gateway.request('POST', '/v1/chat/completions', {
      body: { ...CHAT, ...members },
    })
    expect(status).toBe(400)
    expectClean(JSON.stringify(body))
  },
)

test('an error mid-stream does not contain them either', async () => {
  const error = { error: { message: MESSAGE, type: 'invalid_request_error', code: 400 } }
  gateway.upstream.respondWith(stream([...chunksOf('Hello').slice(0, 2), error]))
  const { body } = await gateway.request('POST', '/v1/chat/completions', { body: { ...CHAT, stream: true } })
  expect(body).toContain('"error"')
  expectClean(body)
})

test('the error of a task does not contain them either', async () => {
  gateway.upstream.respondWith(failure(400, { message: MESSAGE }))
  const { status, body } = await gateway.request('POST', '/v1/images/generations', {
    headers: { prefer: 'respond-async' },
    body: { model: 'gpt-image-1.5', prompt: 'a house' },
  })
  expect(status).toBe(202)
  const task = await waitForTask(gateway, body.id)
  expect(task.status).toBe('failed')
  expectClean(JSON.stringify(task))
})
