import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createStranger, failureOf } from '../sessions/sign-in.ts'
import { eventually } from '../support/eventually.ts'
import { completion, failure } from '../upstreams/openai-server.ts'

let gateway: ChatGateway
let ada: Account
let bob: Account

interface Account {
  readonly id: string
  readonly key: string
  readonly keyId: string
}

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      modelEntry('single', [{ provider: 'vllm', model: 'upstream-name' }]),
      modelEntry('double', [
        { provider: 'vllm', model: 'upstream-name' },
        { provider: 'openai', model: 'second', priority: 2 },
      ]),
    ],
    providers: ['vllm'],
    settings: { PARKWAY_BODY_STORAGE: 'operator' },
  })
  ada = await createAccount('Ada')
  bob = await createAccount('Bob')
})

afterAll(async () => {
  await gateway.close()
})

async function createAccount(name: string): Promise<Account> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name, credit_usd: 5 },
  })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: {},
  })
  return { id: account.id, key: key.key, keyId: key.id }
}

/** Sends a request and returns its id. */
async function ask(account: Account, members: object = { model: 'single' }): Promise<string> {
  const answer = await gateway.request('POST', CHAT, { body: chatBody(members), key: account.key })
  return answer.headers.get('x-request-id') ?? ''
}

const get = async (path: string) => gateway.request('GET', `/v1/admin/${path}`)

const REFUSED = { message: 'You are over 17 requests of project 4711: not today, acme', code: 'odd_code' }
describe('a request that is replayed', () => {
  const replay = (id: string, body: object, key?: string) =>
    gateway.request('POST', `/v1/admin/requests/${id}/replay`, {
      body: { account_id: ada.id, provider: 'openai', ...body },
      ...(key === undefined ? {} : { key }),
    })
  const storeBodies = (enabled: boolean) =>
    gateway.request('PATCH', `/v1/admin/accounts/${ada.id}/body-storage`, { body: { enabled } })
  const spentOf = async (account: Account) =>
    (await gateway.request('GET', `/v1/admin/accounts/${account.id}`)).body.balance_usd
  const stored = (id: string) =>
    eventually(async () => {
      const { status } = await get(`requests/${id}/body?account_id=${ada.id}`)
      expect(status).toBe(200)
    })

  beforeAll(async () => {
    expect((await storeBodies(true)).status).toBe(200)
  })

  test('200: is asked of the other provider only, and paid by the account of the operator', async () => {
    gateway.upstream.respondWith(completion())
    const id = await ask(ada, {
      model: 'double',
      messages: [{ role: 'user', content: 'The owl flies at midnight.' }],
      temperature: 0.3,
      stream: true,
      metadata: { team: 'secret' },
    })
    await stored(id)
    const before = await spentOf(ada)
    const askedBefore = gateway.upstream.bodies().length
    const { status, body } = await replay(id, {})
    expect([status, body]).toMatchObject([
      200,
      {
        object: 'request.replay',
        replayed_request_id: id,
        model: 'double',
        provider: 'openai',
        answer: { assembled_text: expect.any(String) },
      },
    ])
    const asked = gateway.upstream.bodies().slice(askedBefore)
    expect(asked).toMatchObject([
      { model: 'second', temperature: 0.3, messages: [{ content: 'The owl flies at midnight.' }] },
    ])
    for (const left of ['stream', 'metadata']) expect(asked[0]).not.toHaveProperty(left)
    expect(body.cost_usd).toBeGreaterThan(0)
    expect(body.charged_account_id).not.toBe(ada.id)
    expect(await spentOf(ada)).toBe(before)
    // The test call is a request of the operator as any other.
    const { body: logged } = await get(`requests/${body.request_id}`)
    expect(logged).toMatchObject({
      account_id: body.charged_account_id,
      operation: 'chat',
      provider: 'openai',
      cost_usd: body.cost_usd,
    })
    const { body: audit } = await get('audit?limit=1')
    expect(audit.data[0]).toMatchObject({
      action: 'request.replay',
      outcome: 'done',
      target: { kind: 'request' },
      details: { account_id: ada.id, provider: 'openai' },
    })
  })

  test('200: can ask another model, and a failure is told and charges nothing', async () => {
    gateway.upstream.respondWith(completion())
    const id = await ask(ada, { model: 'double' })
    await stored(id)
    const other = await replay(id, { model: 'single', provider: 'vllm' })
    expect([other.status, other.body.model, other.body.provider]).toEqual([200, 'single', 'vllm'])
    gateway.upstream.respondWith(async () => failure(400, REFUSED))
    expect((await replay(id, {})).status).toBeGreaterThanOrEqual(400)
  })

  test('is refused where there is no such route, request or body, and to everybody but operators who manage', async () => {
    gateway.upstream.respondWith(completion())
    const id = await ask(ada, { model: 'single' })
    await stored(id)
    const noRoute = await replay(id, {})
    expect([...failureOf(noRoute), noRoute.body.error.param]).toEqual([400, 'invalid_value', 'provider'])
    expect(failureOf(await replay(id, { model: 'no-such-model' }))).toEqual([404, 'model_not_found'])
    expect(failureOf(await replay(id, { account_id: bob.id }))).toEqual([404, 'not_found'])
    expect(failureOf(await replay(id, { route: 'x' }))[0]).toBe(400)
    const key = await createStranger(gateway)
    expect(failureOf(await replay(id, {}, key))).toEqual([403, 'forbidden'])
    const media = [{ role: 'user', content: `data:image/png;base64,${'A'.repeat(2_000)}` }]
    const withMedia = await ask(ada, { model: 'single', messages: media })
    await stored(withMedia)
    const left = await replay(withMedia, { provider: 'vllm' })
    expect([...failureOf(left), left.body.error.message]).toEqual([
      409,
      'conflict',
      'This request cannot be replayed: the media in its body are not stored.',
    ])
    await storeBodies(false)
    expect(failureOf(await replay(await ask(ada, { model: 'single' }), {}))).toEqual([404, 'not_found'])
  })
})
