import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, until, type Called } from '../app/call.ts'
import { MODEL, startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'
import { startBatchVendor, type BatchVendor } from './batch-vendor.ts'
import { toLines } from './run-batch.ts'
import { TOKENS } from './vendor-answers.ts'

const KILLS = longOr(10, 2)
const LINES = longOr(2_000, 80)
const CHAT = '/v1/chat/completions'

let upstream: OpenAiServer
let vendor: BatchVendor
let fleet: Fleet
let gateway: Gateway
let spender: Spender

beforeAll(async () => {
  upstream = await startOpenAiServer()
  vendor = await startBatchVendor()
  fleet = await startFleet({ upstream, environment: { ...vendor.settings, PARKWAY_LEASE_MS: '1000' } })
  gateway = await fleet.start()
  spender = await fleet.createSpender({ creditUsd: 10 })
})
afterAll(async () => {
  await fleet.close()
  await vendor.close()
  await upstream.close()
})

const ask = (method: string, path: string, body?: unknown): Promise<Called> =>
  call(method, gateway.url + path, { key: spender.key, body })

test('each line of a batch at a vendor is answered, billed and charged once, although its processes are killed', async () => {
  vendor.behave({ looks: 5, isTwice: true, unanswered: 1 })
  const prompts = Array.from({ length: LINES }, (_, index) => `prompt ${index}`)
  const lines = prompts.map((content) => ({
    custom_id: content,
    body: { model: MODEL, max_tokens: 200, messages: [{ role: 'user', content }] },
  }))
  const file = Buffer.from(toLines(lines, CHAT)).toString('base64')
  const { body: uploaded } = await ask('POST', '/v1/files', { purpose: 'batch', file })
  const order = { input_file_id: uploaded.id, endpoint: CHAT, completion_window: '24h' }
  const { body: made } = await ask('POST', '/v1/batches', order)
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = vendor.asked.length
    await until(() => vendor.asked.length > before)
    await delay(randomShare() * 500)
    gateway.program.kill('SIGKILL')
    await gateway.program.exited
    gateway = await fleet.start()
  }
  const batch = await until(async () => {
    const { body: now } = await ask('GET', `/v1/batches/${made.id}`)
    return now.status === 'completed' || now.status === 'failed' ? now : null
  })
  expect(batch.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 })
  const { body: text } = await ask('GET', `/v1/files/${batch.output_file_id}/content`)
  const results = String(text)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const { custom_id: id, response } of results) expect(response.body.choices[0].message.content).toBe(id)
  expect(results.map(({ custom_id: id }) => String(id)).toSorted()).toEqual(prompts.toSorted())

  const charges = await fleet.readCharges(spender.accountId)
  expect(charges).toHaveLength(LINES)
  expect([vendor.invoice.batch.toSorted(), vendor.invoice.single]).toEqual([prompts.toSorted(), []])
  // A vendor bills batches whose answers nobody reads, too.
  const sent = [...vendor.batches.values()].flatMap(({ lines: of }) => of.map(({ prompt }) => prompt))
  expect(sent.toSorted()).toEqual(prompts.toSorted())
  // $1 and $10 for a million tokens.
  const lineNanoUsd = BigInt((TOKENS.prompt * 1_000 + TOKENS.completion * 10_000) / 2)
  expect(new Set(charges.map(({ costNanoUsd }) => costNanoUsd))).toEqual(new Set([lineNanoUsd]))
  expect(BigInt(Math.round(batch.cost_usd * 1e9))).toBe(lineNanoUsd * BigInt(LINES))
  expect(await fleet.findDifferences()).toEqual([])
  expect(fleet.findDefects()).toEqual([])
}, 600_000)
