import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { falWire } from '../upstreams/media/fal-wire.ts'
import { startVendorServer, type VendorServer } from '../upstreams/media/vendor-server.ts'
import { VENDOR_KEY } from '../upstreams/media/vendor-wires.ts'
import { download } from './pictures.ts'
import { waitForTask } from './wait-for-task.ts'

const PATH = '/v1/images/generations'
const IMAGE = { model: 'flux-schnell', prompt: 'A cube' }

let vendor: VendorServer
let gateway: TestGateway
let key: string

beforeAll(async () => {
  vendor = await startVendorServer(falWire)
  gateway = await startTestGateway({ settings: { FAL_KEY: VENDOR_KEY, FAL_BASE_URL: vendor.origin } })
  key = await createKey(gateway, { name: 'live', env: 'live' })
})

afterAll(async () => {
  await gateway.close()
  await vendor.close()
})

const order = async () => {
  const { status, body } = await gateway.request('POST', PATH, { key, body: IMAGE })
  expect(status).toBe(202)
  return waitForTask(gateway, body.task_id, key)
}
const submits = () => vendor.requests.filter(({ method }) => method === 'POST').length

describe('a job at a vendor', () => {
  test('is submitted once, and its output is copied although the vendor is in a private network', async () => {
    const before = submits()
    const task = await order()
    expect([task.status, task.cost_usd]).toEqual(['completed', 0.003])
    expect(submits()).toBe(before + 1)
    expect(task.result.data[0].url.startsWith(gateway.baseUrl)).toBe(true)
    expect((await download(task.result.data[0].url)).contentType).toBe('image/png')
  })

  test.each([
    ['failed', 'provider_error'],
    ['refused', 'prompt_blocked'],
    ['lost', 'provider_error'],
  ] as const)(
    'a job at a vendor that is %s is a failed task, is free and is not submitted again',
    async (phase, code) => {
      const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
      const [balanceBefore, submitsBefore] = [await balance(), submits()]
      vendor.phase = phase
      try {
        const task = await order()
        expect([task.status, task.error.code, task.cost_usd]).toEqual(['failed', code, 0])
      } finally {
        vendor.phase = 'done'
      }
      expect([await balance(), submits()]).toEqual([balanceBefore, submitsBefore + 1])
    },
  )

  test('is submitted again if the vendor had no capacity for it', async () => {
    vendor.replyNext({ status: 429, headers: { 'retry-after': '1' }, body: { detail: 'busy' } })
    expect((await order()).status).toBe('completed')
  })
})
