import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, until, type Called } from '../app/call.ts'
import { paintPng } from '../generation/pictures.ts'
import { startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'
import { json, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'
import { toLines } from './run-batch.ts'

const KILLS = longOr(10, 2)
const LINES = longOr(300, 40)
const MODEL = 'gpt-image-1.5'
const IMAGE_NANO_USD = 40_000_000n
const CREDIT_USD = 100
const GENERATIONS = '/v1/images/generations'

let upstream: OpenAiServer
let fleet: Fleet
let gateway: Gateway
let spender: Spender

beforeAll(async () => {
  const b64_json = (await paintPng()).toString('base64')
  upstream = await startOpenAiServer(async () => {
    await delay(50 + randomShare() * 300)
    return json({ created: 1, data: [{ b64_json }] })
  })
  fleet = await startFleet({ upstream, environment: { PARKWAY_LEASE_MS: '1000' } })
  gateway = await fleet.start()
  spender = await fleet.createSpender({ creditUsd: CREDIT_USD })
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
})

const ask = (method: string, path: string, body?: unknown): Promise<Called> =>
  call(method, gateway.url + path, { key: spender.key, body })

test('each line of a batch of images has its images once and is charged once, although its processes are killed', async () => {
  const lines = Array.from({ length: LINES }, (_, index) => ({
    custom_id: `line ${index}`,
    // Both ways: in the answer, and kept as a file.
    body: {
      model: MODEL,
      prompt: `A cube ${index}`,
      size: '1024x1024',
      response_format: index % 2 ? 'url' : 'b64_json',
    },
  }))
  const file = Buffer.from(toLines(lines, GENERATIONS)).toString('base64')
  const { body: uploaded } = await ask('POST', '/v1/files', { purpose: 'batch', file })
  const order = { input_file_id: uploaded.id, endpoint: GENERATIONS, completion_window: '24h' }
  const { body: made } = await ask('POST', '/v1/batches', order)
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = upstream.requests.length
    await until(() => upstream.requests.length > before)
    await delay(randomShare() * 500)
    gateway.program.kill('SIGKILL')
    await gateway.program.exited
    gateway = await fleet.start()
  }
  const batch = await until(async () => {
    const { body: now } = await ask('GET', `/v1/batches/${made.id}`)
    return now?.status === 'completed' || now?.status === 'failed' ? now : null
  })
  expect([batch.status, batch.request_counts]).toEqual([
    'completed',
    { total: LINES, completed: LINES, failed: 0 },
  ])
  const { body: text } = await ask('GET', `/v1/files/${batch.output_file_id}/content`)
  const results = String(text)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(new Set(results.map(({ custom_id: id }) => id)).size).toBe(LINES)
  expect(results).toHaveLength(LINES)
  for (const { response } of results) {
    const [{ url, b64_json }] = response.body.data
    expect([response.status_code, url === undefined]).toEqual([200, b64_json !== undefined])
  }
  const charges = (await fleet.readCharges(spender.accountId)).filter(
    ({ outcome }) => outcome === 'completed',
  )
  expect(charges).toHaveLength(LINES)
  expect(new Set(charges.map(({ costNanoUsd }) => costNanoUsd))).toEqual(new Set([IMAGE_NANO_USD]))
  expect(BigInt(Math.round(batch.cost_usd * 1e9))).toBe(IMAGE_NANO_USD * BigInt(LINES))
  expect(await fleet.findDifferences()).toEqual([])
  expect(fleet.findDefects()).toEqual([])
}, 600_000)
