import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { waitForTask } from './wait-for-task.ts'
import { eventually } from '../support/eventually.ts'

const IMAGES = '/v1/images/generations'

let gateway: TestGateway
let hook: Server
let hookUrl: string
const told: unknown[] = []

beforeAll(async () => {
  hook = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      told.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.end()
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  const { port } = hook.address() as AddressInfo
  hookUrl = `http://127.0.0.1:${port}/hook`
  gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` } })
})

afterAll(async () => {
  await gateway.close()
  hook.close()
})

const records = async (key: string) => (await gateway.request('GET', '/v1/usage/records', { key })).body.total
const balance = async (key: string) => (await gateway.request('GET', '/v1/tenants/me', { key })).body

describe('a client that disconnects before its image is made', () => {
  test("pays for the upstream's work, and leaves no hold and no file", async () => {
    const { key } = await createAccountKey(gateway, { name: 'hasty', credit_usd: 1 })
    const leaving = new AbortController()
    const body = { model: 'gpt-image-1.5', prompt: '[[sandbox:latency ms=4000]] A cube' }
    const asked = gateway.request('POST', IMAGES, { key, body, signal: leaving.signal })
    const heldUsd = async () => (await gateway.request('GET', '/v1/usage/budget', { key })).body.held_usd
    await eventually(async () => expect(await heldUsd()).toBe(0.04))
    leaving.abort()
    await expect(asked).rejects.toThrow()
    await eventually(async () => expect(await heldUsd()).toBe(0))
    expect([(await balance(key)).balance_usd, await records(key)]).toEqual([0.96, 1])
  })

  test('a client that disconnects before its image is made of a task does not stop the task', async () => {
    const { key } = await createAccountKey(gateway, { name: 'patient', credit_usd: 1 })
    const leaving = new AbortController()
    const body = { model: 'flux-schnell', prompt: '[[sandbox:latency ms=1500]] A cube' }
    const headers = { prefer: 'wait=30' }
    const asked = gateway.request('POST', IMAGES, { key, body, headers, signal: leaving.signal })
    const list = async () => (await gateway.request('GET', '/v1/tasks', { key })).body.data
    await eventually(async () => expect(await list()).toHaveLength(1))
    leaving.abort()
    // On a slow machine, the answer may have arrived before the abort.
    await Promise.allSettled([asked])
    const [{ id }] = await list()
    expect((await waitForTask(gateway, id, key)).status).toBe('completed')
  })
})

describe('a webhook', () => {
  test('is called when the task has ended', async () => {
    const body = { model: 'flux-schnell', prompt: 'A cube', webhook_url: hookUrl, metadata: { order: 7 } }
    const { body: receipt } = await gateway.request('POST', IMAGES, { body })
    await eventually(() => expect(told).toHaveLength(1))
    expect(JSON.stringify(told[0])).toContain(receipt.task_id)
    expect(JSON.stringify(told[0])).toContain('"status":"completed"')
  })
})

describe('credit', () => {
  test('credit that does not cover the maximum cost of a request refuses it, directly or as a task', async () => {
    const { key } = await createAccountKey(gateway, { name: 'short', credit_usd: 0.1 })
    for (const [path, asked] of [
      [IMAGES, { model: 'gpt-image-1.5', prompt: 'x', n: 3 }],
      [IMAGES, { model: 'flux-pro', prompt: 'x', n: 3 }],
      ['/v1/videos/generations', { model: 'veo-3.1', prompt: 'x' }],
      ['/v1/audio/music', { prompt: 'x', duration: 60 }],
    ] as const) {
      const { status, body, headers } = await gateway.request('POST', path, { key, body: asked })
      expect([path, status, body.error?.code]).toEqual([path, 402, 'insufficient_balance'])
      expect(headers.get('x-should-retry')).toBe('false')
    }
    expect(await records(key)).toBe(0)
    const { status } = await gateway.request('POST', IMAGES, {
      key,
      body: { model: 'flux-pro', prompt: 'x', n: 2 },
    })
    expect(status).toBe(202)
  })

  test('credit of a key with a cap is not overspent by tasks', async () => {
    const { body: capped } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'capped', env: 'dev', limit_usd: 0.005 },
    })
    const body = { model: 'flux-schnell', prompt: 'x', n: 2 }
    const answer = await gateway.request('POST', IMAGES, { key: capped.key, body })
    expect([answer.status, answer.body.error?.code]).toEqual([402, 'key_limit_reached'])
  })
})
