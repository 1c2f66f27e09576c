import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { modelEntry } from '../chat/start-chat-gateway.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { completion } from '../upstreams/openai-server.ts'
import {
  addModel,
  askModel,
  createOther,
  MODELS,
  offeredModel,
  PRICE,
  startTwoGateways,
  type TwoGateways,
} from './offered-model.ts'

let both: TwoGateways
let gateway: TwoGateways['gateway']
let second: TestGateway

beforeAll(async () => {
  both = await startTwoGateways([
    modelEntry('of-the-file', [{ provider: 'openai', model: 'm' }], { aliases: ['alias-of-the-file'] }),
  ])
  ;({ gateway, second } = both)
})
afterAll(() => both.close())
beforeEach(() => gateway.upstream.respondWith(completion()))

const change = (id: string, body: object) =>
  gateway.request('PATCH', `${MODELS}/${encodeURIComponent(id)}`, { body })
const remove = (id: string) => gateway.request('DELETE', `${MODELS}/${encodeURIComponent(id)}`)

describe('a model that is added', () => {
  test('is served by every process at once, by its id and its aliases', async () => {
    const added = await addModel(gateway, 'vendor/new-1', { aliases: ['newest'] })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      id: 'vendor/new-1',
      object: 'model_configuration',
      source: 'database',
      aliases: ['newest'],
      price: PRICE,
      price_version: expect.stringMatching(/^\d+$/),
      visibility: null,
    })
    for (const one of [gateway, second])
      for (const name of ['vendor/new-1', 'newest']) {
        const answer = await askModel(one, name)
        expect([answer.status, answer.headers.get('x-gateway-model')]).toEqual([200, 'vendor/new-1'])
        expect(gateway.upstream.requests.at(-1)?.body).toMatchObject({ model: 'upstream-vendor/new-1' })
      }
  })

  test('is in the lists of models with its price, and read by its id', async () => {
    await addModel(gateway, 'listed-1')
    const { body } = await second.request('GET', '/v1/models')
    const card = body.data.find(({ id }: { id: string }) => id === 'listed-1')
    expect(card).toMatchObject({ price: PRICE, pricing: '$1 in / $10 out per 1M tokens', is_ready: true })
    expect((await second.request('GET', '/v1/models/listed-1')).body).toEqual(card)
    expect((await second.request('GET', '/anthropic/v1/models/listed-1')).status).toBe(200)
    const admin = await gateway.request('GET', `${MODELS}?source=database&limit=100`)
    expect(admin.body.data.map(({ id }: { id: string }) => id)).toContain('listed-1')
    expect((await gateway.request('GET', `${MODELS}/of-the-file`)).body).toMatchObject({
      source: 'file',
      price_version: expect.stringMatching(/^file-/),
    })
  })

  test('can be named by a budget and by the list of a key', async () => {
    await addModel(gateway, 'named-1')
    const made = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'narrow', env: 'dev', allowed_models: ['named-1'] },
    })
    expect(made.status).toBe(201)
    const { key } = made.body
    expect((await askModel(second, 'named-1', key)).status).toBe(200)
    expect((await askModel(second, 'of-the-file', key)).body.error.code).toBe('model_not_allowed')
  })

  test('follows a change in every process, and is gone from all when it is removed', async () => {
    await addModel(gateway, 'changing-1', { aliases: ['before'] })
    const changed = await change('changing-1', { aliases: ['after'], max_output_tokens: 50, listed: false })
    expect(changed.body).toMatchObject({
      aliases: ['after'],
      max_output_tokens: 50,
      listed: false,
      price: PRICE,
    })
    expect((await askModel(second, 'after')).status).toBe(200)
    expect((await askModel(second, 'before')).body.error.code).toBe('model_not_found')
    const cleared = await change('changing-1', { max_output_tokens: null })
    expect(cleared.body.max_output_tokens).toBeUndefined()
    expect((await remove('changing-1')).body).toMatchObject({ deleted: true })
    for (const one of [gateway, second])
      expect((await askModel(one, 'changing-1')).body.error).toMatchObject({ code: 'model_not_found' })
    expect((await remove('changing-1')).status).toBe(404)
    expect((await change('changing-1', { listed: true })).status).toBe(404)
  })

  test('can be added again after it was removed', async () => {
    await addModel(gateway, 'again-1', { aliases: ['twice'] })
    await remove('again-1')
    expect((await addModel(gateway, 'again-1', { aliases: ['twice'] })).status).toBe(201)
    expect((await askModel(second, 'twice')).status).toBe(200)
  })

  test('serves at its new price from the change on', async () => {
    await addModel(gateway, 'repriced-1')
    const before = (await askModel(second, 'repriced-1')).body.usage.cost_usd
    await change('repriced-1', { price: { ...PRICE, input_usd_per_1m: 2, output_usd_per_1m: 20 } })
    const after = (await askModel(second, 'repriced-1')).body.usage.cost_usd
    expect([before > 0, after]).toEqual([true, 2 * before])
  })

  test('leaves an entry with the difference in the audit log', async () => {
    await addModel(gateway, 'audited-1', { reason: 'a customer asked' })
    await change('audited-1', { name: 'Audited', reason: 'a better name' })
    const { body } = await gateway.request('GET', '/v1/admin/audit?target=audited-1')
    const entries = body.data.filter(({ target }: { target?: { id?: string } }) => target?.id === 'audited-1')
    expect(entries).toMatchObject([
      {
        action: 'model.change',
        details: { name: { from: 'audited-1', to: 'Audited' }, reason: 'a better name' },
      },
      { action: 'model.create', details: { reason: 'a customer asked' } },
    ])
  })
})

describe('a model for some', () => {
  test('is found by the named account on every route, and by nobody else on any', async () => {
    const stranger = await createOther(gateway)
    const { body: me } = await gateway.request('GET', '/v1/tenants/me')
    await addModel(gateway, 'private-1', {
      aliases: ['private-alias'],
      visibility: { accounts: [me.id] },
    })
    const look = async (key: string) =>
      Promise.all([
        askModel(second, 'private-1', key).then(({ status }) => status),
        askModel(second, 'private-alias', key).then(({ status }) => status),
        second.request('GET', '/v1/models/private-1', { key }).then(({ status }) => status),
        second.request('GET', '/anthropic/v1/models/private-1', { key }).then(({ status }) => status),
        second
          .request('GET', '/v1/models?include=all', { key })
          .then(({ body }) => body.data.some(({ id }: { id: string }) => id === 'private-1')),
      ])
    expect(await look(gateway.key)).toEqual([200, 200, 200, 200, true])
    expect(await look(stranger)).toEqual([404, 404, 404, 404, false])
    const [unknown, hidden] = [
      await askModel(second, 'no-such-model', stranger),
      await askModel(second, 'private-1', stranger),
    ]
    expect({ ...hidden.body.error, request_id: '' }).toEqual({
      ...unknown.body.error,
      message: unknown.body.error.message.replace('no-such-model', 'private-1'),
      request_id: '',
    })
    await change('private-1', { visibility: null })
    expect(await look(stranger)).toEqual([200, 200, 200, 200, true])
  })

  test('does not hide the model that others find by the same name', async () => {
    const stranger = await createOther(gateway)
    await addModel(gateway, 'of-the-file-2026-01-01', { visibility: { accounts: [] } })
    const answer = await askModel(second, 'of-the-file-2026-01-01', stranger)
    expect([answer.status, answer.headers.get('x-gateway-model')]).toEqual([200, 'of-the-file'])
  })

  test('is found by the keys of a named project only', async () => {
    const { body: project } = await gateway.request('POST', '/v1/organization/projects', {
      body: { name: 'chosen' },
    })
    const { body: made } = await gateway.request(
      'POST',
      `/v1/organization/projects/${project.id}/service_accounts`,
      {
        body: { name: 'worker' },
      },
    )
    await addModel(gateway, 'of-a-project', { visibility: { projects: [project.id] } })
    expect((await askModel(second, 'of-a-project', made.api_key.value)).status).toBe(200)
    expect((await askModel(second, 'of-a-project')).status).toBe(404)
  })
})

describe('what is refused', () => {
  test.each([
    ['an id with markup', { id: '<b>x</b>' }],
    ['an id with NUL', { id: 'a\u0000b' }],
    ['a lone surrogate', { name: '\ud800' }],
    ['a line break in a name', { name: 'a\r\nx-other: 1' }],
    ['no price', { price: undefined }],
    ['a price without amounts', { price: { unit: 'token' } }],
    ['a misspelt amount', { price: { ...PRICE, cached_input_usd: 0.1 } }],
    ['a negative price', { price: { ...PRICE, input_usd_per_1m: -1 } }],
    ['a price of 1e30', { price: { ...PRICE, input_usd_per_1m: 1e30 } }],
    ['a price as text', { price: { ...PRICE, input_usd_per_1m: 'NaN' } }],
    ['a price below a nano-dollar', { price: { ...PRICE, input_usd_per_1m: 1e-10 } }],
    ['a token price for images', { category: 'image' }],
    ['an unknown provider', { routes: [{ provider: 'nobody', model: 'm' }] }],
    ['no route', { routes: [] }],
    ['an alias of its own name', { aliases: ['refused-1'] }],
    ['an alias with markup', { aliases: ['<i>'] }],
    ['a member that is not known', { colour: 'red' }],
    ['a wrong end', { retires: '2027-02-31', successor: 'of-the-file' }],
    ['an account that is none', { visibility: { accounts: ['x'] } }],
    [
      'an account that does not exist',
      { visibility: { accounts: ['00000000-0000-4000-8000-000000000000'] } },
    ],
    ['a project that is none', { visibility: { projects: ['x'] } }],
    [
      'a project that does not exist',
      { visibility: { projects: ['proj_00000000000040008000000000000000'] } },
    ],
    ['too much text', { name: 'x'.repeat(300) }],
  ])('%s', async (_, members) => {
    const { status, body } = await addModel(gateway, 'refused-1', members)
    expect([status, typeof body.error?.message]).toEqual([400, 'string'])
    expect((await gateway.request('GET', `${MODELS}/refused-1`)).status).toBe(404)
  })

  test('5,000 nested brackets', async () => {
    const nested = `{"id":"refused-1","bounds":${'['.repeat(5_000)}${']'.repeat(5_000)}}`
    expect((await gateway.request('POST', MODELS, { body: nested })).status).toBe(400)
  })

  test('names that the file or another model has, by id or alias', async () => {
    await addModel(gateway, 'owner-1', { aliases: ['owned'] })
    for (const [id, members] of [
      ['of-the-file', {}],
      ['alias-of-the-file', {}],
      ['gpt-5.4', {}],
      ['mine-1', { aliases: ['of-the-file'] }],
      ['mine-1', { aliases: ['gpt-4'] }],
      ['owner-1', {}],
      ['owned', {}],
      ['mine-1', { aliases: ['owner-1'] }],
      ['mine-1', { aliases: ['owned'] }],
    ] as const) {
      const { status, body } = await addModel(gateway, id, members)
      expect([id, members, status, body.error?.code]).toEqual([id, members, 409, 'conflict'])
    }
    expect((await addModel(gateway, 'mine-1')).status).toBe(201)
    expect((await change('mine-1', { aliases: ['owned'] })).status).toBe(409)
    expect((await askModel(second, 'owned')).headers.get('x-gateway-model')).toBe('owner-1')
  })

  test('the change of a model of the file', async () => {
    for (const answer of [await change('of-the-file', { listed: false }), await remove('gpt-5.4')]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
      expect(answer.body.error.message).toContain('from the file')
    }
  })

  test('whoever is no operator, and changes by an operator who may only read', async () => {
    const key = await createOther(gateway)
    const body = offeredModel('by-a-stranger')
    for (const [method, path] of [
      ['GET', MODELS],
      ['POST', MODELS],
      ['PATCH', `${MODELS}/of-the-file`],
      ['DELETE', `${MODELS}/of-the-file`],
    ] as const)
      expect(
        (await gateway.request(method, path, { key, ...(method === 'GET' ? {} : { body }) })).status,
      ).toBe(403)
  })
})
