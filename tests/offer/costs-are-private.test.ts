import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { waitForTask } from '../generation/wait-for-task.ts'
import { chunksOf, completion, stream as streamReply } from '../upstreams/openai-server.ts'
import { explainCharges } from '../support/unexplained-charges.ts'

/** Names that no answer to an account has as a member, in any form. */
const MEMBERS = /vendor[_-]?cost|margin|costed|cost[_-]?of[_-]?vendor/i

const modelOf = (id: string, category: string, price: object, cost: object, members: object = {}) => ({
  id,
  name: id,
  vendor: 'Test',
  category,
  price,
  routes: [{ provider: category === 'llm' ? 'openai' : 'sandbox', model: `upstream-${id}`, cost }],
  ...members,
})
const MODELS = [
  modelOf(
    'our-chat',
    'llm',
    { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10 },
    { unit: 'token', input_usd_per_1m: 0.512_347, output_usd_per_1m: 3.912_371 },
    { capabilities: ['chat'], context_tokens: 100_000 },
  ),
  modelOf(
    'our-picture',
    'image',
    { unit: 'image', usd: 0.05 },
    { unit: 'image', usd: 0.012_345_67, multipliers: { quality: { high: 2 } } },
    { bounds: { qualities: ['low', 'high'] } },
  ),
  modelOf(
    'our-clip',
    'video',
    { unit: 'second', usd: 0.2 },
    { unit: 'second', usd: 0.076_543_21 },
    { bounds: { duration_seconds: [4, 8] } },
  ),
]

let gateway: ChatGateway
let hook: Server
/** What the webhook of the account was told. */
const told: string[] = []
let account: { accountId: string; key: string }
let taskId: string
let figures: string[]

beforeAll(async () => {
  hook = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (piece: string) => void told.push(piece))
    request.on('end', () => response.writeHead(204).end())
  }).listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const { port } = hook.address() as AddressInfo
  const settings = { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` }
  gateway = await startChatGateway({ models: MODELS, settings })
  account = await createAccountKey(gateway, { name: 'other', credit_usd: 50 })
  const ask = (path: string, body: object) => gateway.request('POST', path, { key: account.key, body })
  for (const stream of [false, true]) {
    gateway.upstream.respondWith(stream ? streamReply(chunksOf('Hi')) : completion())
    told.push(JSON.stringify((await ask(CHAT, chatBody({ model: 'our-chat', stream }))).body))
  }
  const picture = { model: 'our-picture', prompt: 'A cube', quality: 'high' }
  const made = await ask('/v1/images/generations', picture)
  expect(made.status).toBe(200)
  const clip = {
    model: 'our-clip',
    prompt: 'A cube',
    duration: 4,
    webhook_url: `http://127.0.0.1:${port}/`,
  }
  const begun = await ask('/v1/videos/generations', clip)
  taskId = begun.body.task_id
  told.push(JSON.stringify([made.body, begun.body, await waitForTask(gateway, taskId, account.key)]))
  figures = figuresOf(await readEntries())
}, 60_000)

afterAll(async () => {
  await gateway.close()
  hook.closeAllConnections()
  hook.close()
})

interface Entry {
  readonly model: string
  readonly cost_usd: number
  readonly vendor_cost_usd: number
  readonly margin_usd: number
}

async function readEntries(): Promise<Entry[]> {
  return (await gateway.request('GET', `/v1/admin/requests?account_id=${account.accountId}`)).body.data
}

/** As dollars and as nano-dollars, of requests, of their sum and of the lists. */
function figuresOf(entries: readonly Entry[]): string[] {
  const sum = (read: (entry: Entry) => number) => entries.reduce((total, one) => total + read(one), 0)
  const ofRequests = entries.flatMap(({ vendor_cost_usd: cost, margin_usd: margin }) => [cost, margin])
  const sums = [sum((one) => one.vendor_cost_usd), sum((one) => one.margin_usd)]
  const lists = [0.512_347, 3.912_371, 0.012_345_67, 0.076_543_21]
  return [...ofRequests, ...sums, ...lists].flatMap((usd) => [
    usd.toFixed(9).replace(/0+$/, ''),
    String(Math.round(usd * 1e9)),
  ])
}

test('every kind of request has its cost, by the same counts as its charge, which operators see', async () => {
  const entries = await readEntries()
  const costs = new Map(entries.map(({ model, vendor_cost_usd: cost }) => [model, cost]))
  expect(costs.get('our-picture')).toBe(0.024_691_34)
  expect(costs.get('our-clip')).toBe(0.306_172_84)
  expect(entries).toHaveLength(4)
  expect(costs.get('our-chat')).toBeGreaterThan(0)
  const { unexplained, costs: verified } = await explainCharges(gateway.connectionString)
  expect([unexplained, verified]).toEqual([[], { checked: 4, differing: 0 }])
})

/** Values for the paths of routes that are about one thing. Routes with others are about things that this account has not. */
async function paramsOf(): Promise<Record<string, string>> {
  const { body: log } = await gateway.request('GET', '/v1/requests', { key: account.key })
  const month = new Date().toISOString().slice(0, 'YYYY-MM'.length)
  return { request_id: log.data[0].request_id, month, model: 'our-chat' }
}

/** What is listed under `/v1/x` is one under `/v1/x/{id}`. */
const OF_ONE: Readonly<Record<string, string>> = {
  '/v1/models/{id}': 'our-chat',
  '/anthropic/v1/models/{id}': 'our-chat',
}

test('no route for accounts answers with a cost or a margin, in any format', async () => {
  const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })
  const params = await paramsOf()
  const formats = [
    '',
    '?format=csv',
    '?window=24h',
    '?limit=100',
    '?group_by=model',
    '?start_time=1700000000',
  ]
  const read: string[] = []
  for (const [path, item] of Object.entries<Record<string, object>>(document.paths)) {
    if (item['get'] === undefined || /^\/v1\/admin\/|stream$|^\/(metrics|docs|openapi)/.test(path)) continue
    const one = path === '/v1/tasks/{id}' ? taskId : OF_ONE[path]
    const concrete = path.replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => (name === 'id' ? one : params[name]) ?? '',
    )
    if (concrete.includes('//') || concrete.endsWith('/')) continue
    for (const format of formats) {
      const answer = await gateway.fetch('GET', concrete + format, { key: account.key })
      const text = await answer.text()
      if (answer.status === 200) read.push(path)
      expect([path, format, leaksOf(text)]).toEqual([path, format, []])
    }
  }
  expect(new Set(read)).toContain('/v1/requests/{request_id}')
  expect(new Set(read)).toContain('/v1/statements/{month}')
  expect(new Set(read)).toContain('/v1/usage/records')
  expect(new Set(read)).toContain('/v1/models/{id}')
  expect(new Set(read).size).toBeGreaterThan(40)
})

test('nor does an answer of a model, a task or a webhook', async () => {
  await expect.poll(() => told.some((text) => text.includes('our-clip'))).toBe(true)
  expect(told.flatMap(leaksOf)).toEqual([])
})

test('no operation for accounts has such a member in the form of its answers', async () => {
  const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })
  const found = Object.entries<object>(document.paths)
    .filter(([path]) => !path.startsWith('/v1/admin/'))
    .filter(([, item]) => namesIn(document, item).some((name) => MEMBERS.test(name)))
  expect(found.map(([path]) => path)).toEqual([])
  const { [`/v1/admin/requests`]: ofOperators } = document.paths
  expect(namesIn(document, ofOperators)).toContain('vendor_cost_usd')
})

test('an account cannot read what operators read', async () => {
  for (const path of ['/v1/admin/requests', '/v1/admin/models', '/v1/admin/models/our-chat/prices'])
    expect((await gateway.request('GET', path, { key: account.key })).status).toBe(403)
})

function leaksOf(text: string): string[] {
  const members = MEMBERS.exec(text)?.[0]
  return [...figures.filter((figure) => text.includes(figure)), ...(members === undefined ? [] : [members])]
}

/** The names of all members of what it describes, through references. */
function namesIn(document: object, schema: unknown, seen = new Set<unknown>()): string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return []
  seen.add(schema)
  return Object.entries(schema).flatMap(([name, value]) => {
    if (name === '$ref' && typeof value === 'string') return namesIn(document, resolve(document, value), seen)
    const own = name === 'properties' && typeof value === 'object' && value !== null ? Object.keys(value) : []
    return [...own, ...namesIn(document, value, seen)]
  })
}

function resolve(document: object, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], document)
}
