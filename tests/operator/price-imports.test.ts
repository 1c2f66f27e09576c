import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'

const IMPORTS = '/v1/admin/price_imports'

let gateway: ChatGateway
/** Where a list can be fetched. */
let site: Server
let siteUrl: string
let served: { status: number; text: string }

const model = (id: string, upstream: string, price: object) => ({
  ...modelEntry(id, [{ provider: 'openai', model: upstream, priority: 0 }]),
  price: { unit: 'token', ...price },
})
const listed = (input: number, output: number, more: object = {}) => ({
  litellm_provider: 'openai',
  mode: 'chat',
  max_input_tokens: 128_000,
  input_cost_per_token: input,
  output_cost_per_token: output,
  ...more,
})
const LIST = {
  'up-same': listed(1e-6, 2e-6),
  'up-changed': listed(1.5e-6, 3e-6),
  'up-absurd': listed(1e-3, 2e-6),
  'up-odd': listed(-1, 2e-6),
  'brand-new': listed(1e-7, 5e-7, { supports_function_calling: true }),
}

beforeAll(async () => {
  site = createServer((_, response) => response.writeHead(served.status).end(served.text)).listen(
    0,
    '127.0.0.1',
  )
  await once(site, 'listening')
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo | null)?.port ?? 0}/list.json`
  gateway = await startChatGateway({
    models: [
      model('same', 'up-same', { input_usd_per_1m: 1, output_usd_per_1m: 2 }),
      model('changed', 'up-changed', { input_usd_per_1m: 1, output_usd_per_1m: 2 }),
      model('absurd', 'up-absurd', { input_usd_per_1m: 1, output_usd_per_1m: 2 }),
      model('odd', 'up-odd', { input_usd_per_1m: 1, output_usd_per_1m: 2 }),
      model('gone', 'up-gone', { input_usd_per_1m: 1, output_usd_per_1m: 2 }),
    ],
    settings: { PARKWAY_OUTBOUND_ALLOW: '127.0.0.1' },
  })
})
afterAll(async () => {
  await gateway.close()
  site.close()
})

const post = (path: string, body: object) => gateway.request('POST', path, { body })
const source = (list: object = LIST) => ({ format: 'litellm', text: JSON.stringify(list) })
const differencesIn = (body: { differences: { model: string; status: string }[] }) =>
  Object.fromEntries(
    body.differences
      .filter(({ model: id }) => /^(same|changed|absurd|odd|gone|brand-new)$/.test(id))
      .map(({ model: id, status }) => [id, status]),
  )
const inputPriceOf = async (id: string) =>
  (await gateway.request('GET', `/v1/admin/models/${id}`)).body.price?.input_usd_per_1m

test('a list is compared and nothing is changed; half of it is taken, and charged from then on', async () => {
  const { status, body } = await post(IMPORTS, source())
  expect([status, differencesIn(body)]).toEqual([
    200,
    { changed: 'changed', absurd: 'changed', gone: 'gone', 'brand-new': 'new' },
  ])
  expect(body.differences.find(({ model: id }: { model: string }) => id === 'changed')).toMatchObject({
    provider: 'openai',
    listed_as: 'up-changed',
    changes: [
      { field: 'input_usd_per_1m', from: 1, to: 1.5 },
      { field: 'output_usd_per_1m', from: 2, to: 3 },
    ],
    is_suspicious: false,
  })
  expect(body.problems).toEqual([{ key: 'up-odd', reason: 'input_cost_per_token is negative' }])
  expect([await inputPriceOf('changed'), await inputPriceOf('absurd')]).toEqual([1, 1])

  const apply = { ...source(), digest: body.digest }
  const unknown = await post(`${IMPORTS}/apply`, { ...apply, models: ['changed', 'odd'] })
  expect([unknown.status, unknown.body.error.param]).toEqual([400, 'models.1'])
  expect(await inputPriceOf('changed')).toBe(1)

  const taken = await post(`${IMPORTS}/apply`, { ...apply, models: ['changed', 'brand-new'] })
  expect([taken.status, taken.body]).toMatchObject([200, { changed: ['changed'], added: ['brand-new'] }])
  expect([await inputPriceOf('changed'), await inputPriceOf('absurd')]).toEqual([1.5, 1])
  const answer = await gateway.request('POST', CHAT, { body: chatBody({ model: 'brand-new' }) })
  expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([200, 'openai'])
  const { prompt_tokens: input, completion_tokens: output, cost_usd: cost } = answer.body.usage
  expect(cost).toBeCloseTo((input * 0.1 + output * 0.5) / 1e6, 9)
  const log = await gateway.request('GET', '/v1/admin/audit?limit=5')
  expect(JSON.stringify(log.body)).toContain('model.price')

  const again = await post(IMPORTS, source())
  expect(differencesIn(again.body)).toEqual({ absurd: 'changed', gone: 'gone' })
})

test('all that is changed is taken without what is suspicious and without new models, at the moment that is named', async () => {
  const list = { ...LIST, 'up-same': listed(2e-6, 2e-6), 'other-new': listed(1e-6, 1e-6) }
  const { body } = await post(IMPORTS, source(list))
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const taken = await post(`${IMPORTS}/apply`, {
    ...source(list),
    digest: body.digest,
    effective_from: later,
  })
  expect([taken.status, taken.body]).toMatchObject([200, { changed: ['same'], added: [] }])
  expect(await inputPriceOf('same')).toBe(1)
  const { body: prices } = await gateway.request('GET', '/v1/admin/models/same/prices')
  expect(prices.data[0]).toMatchObject({ state: 'future', effective_from: later })
})

test('a list that is another one by now is not taken', async () => {
  served = { status: 200, text: JSON.stringify(LIST) }
  const address = { format: 'litellm', url: siteUrl }
  const { body } = await post(IMPORTS, address)
  served = { status: 200, text: JSON.stringify({ ...LIST, 'up-same': listed(5e-6, 2e-6) }) }
  const refused = await post(`${IMPORTS}/apply`, { ...address, digest: body.digest })
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
})

test.each([
  ['neither a list nor an address', { format: 'litellm' }, 'text'],
  ['both', { format: 'litellm', text: '{}', url: 'http://127.0.0.1/' }, 'text'],
  ['no JSON', { format: 'litellm', text: '{' }, 'text'],
  ['deep brackets', { format: 'models.dev', text: '['.repeat(5_000) }, 'text'],
  ['a form that nobody knows', { format: 'csv', text: '{}' }, 'format'],
  ['the address of the machine itself', { format: 'litellm', url: 'http://169.254.169.254/latest' }, 'url'],
])('%s is refused', async (_, body, param) => {
  const answer = await post(IMPORTS, body)
  expect([answer.status, answer.body.error.param]).toEqual([400, param])
})

test('an address that answers with an error is told', async () => {
  served = { status: 500, text: '' }
  const answer = await post(IMPORTS, { format: 'litellm', url: siteUrl })
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('answered 500')])
})
