import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createStranger, failureOf } from '../sessions/sign-in.ts'
import { completion, failure } from '../upstreams/openai-server.ts'
import { eventually } from '../support/eventually.ts'
import { followLive, type LiveStream } from './follow-live.ts'

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
const idsOf = (body: { data: { request_id: string }[] }) => body.data.map((entry) => entry.request_id)

const REFUSED = { message: 'You are over 17 requests of project 4711: not today, acme', code: 'odd_code' }

describe('the requests of all accounts', () => {
  test('are found by what the upstream said, which only operators see', async () => {
    gateway.upstream.respondWith(async () => failure(500, REFUSED))
    const failed = await ask(ada)
    const query = 'requests?provider=vllm&outcome=failed&error=NOT+TODAY'
    const { status, body } = await get(query)
    expect([status, idsOf(body)]).toEqual([200, [failed]])
    expect(body.requests).toEqual(body.data)
    expect(body.data[0]).toMatchObject({
      account_id: ada.id,
      account_name: 'Ada',
      key_id: ada.keyId,
      model: 'single',
      provider: 'vllm',
      error_code: 'provider_error',
      error_message: "The provider 'vllm' answered with an error.",
      upstream_error: { status: 500, code: 'odd_code', message: REFUSED.message },
    })
    const { body: one } = await get(`requests/${failed}`)
    expect(one).toMatchObject({ request_id: failed, account_name: 'Ada', timings: expect.any(Object) })
    expect(one.attempts[0]).toMatchObject({
      provider: 'vllm',
      http_status: 500,
      error_code: 'odd_code',
      error_message: REFUSED.message,
    })
    // The account sees what it was told, and cannot find out more by searching.
    const { body: own } = await gateway.request('GET', `/v1/requests/${failed}`, { key: ada.key })
    expect(own.error_message).toBe("The provider 'vllm' answered with an error.")
    expect(JSON.stringify(own)).not.toContain('today')
    const sought = await gateway.request('GET', '/v1/requests?error=not+today', { key: ada.key })
    expect(sought.body.data).toEqual([])
  })

  test('are found by account, key, model, id and attempted provider', async () => {
    gateway.upstream.respondWith(async ({ path }) => (path.startsWith('/vllm') ? failure(500) : completion()))
    const [first, second] = [await ask(ada, { model: 'double' }), await ask(bob, { model: 'double' })]
    for (const [query, expected] of [
      [`account_id=${ada.id}`, [first]],
      [`key=${bob.keyId}`, [second]],
      ['model=double', [second, first]],
      ['model=double&provider=openai', [second, first]],
      ['model=double&provider=vllm', []],
      ['model=double&attempted_provider=vllm', [second, first]],
      [`request_id=${first}`, [first]],
    ] as const) {
      const { body } = await get(`requests?${query}&outcome=completed`)
      expect([query, idsOf(body)]).toEqual([query, expected])
    }
  })

  test('come in pages, each once, with requests that failed and requests that were charged', async () => {
    const all = idsOf((await get('requests?limit=100')).body)
    const paged: string[] = []
    let after = ''
    do {
      const { body } = await get(`requests?limit=2${after && `&after=${after}`}`)
      paged.push(...idsOf(body))
      after = body.next_cursor ?? ''
    } while (after !== '')
    expect(paged).toEqual(all)
    expect(all.length).toBeGreaterThan(2)
  })

  test('are a file of all that the filters find, of more than a page, where what an upstream said is no formula', async () => {
    gateway.upstream.respondWith(async () => failure(500, { message: '=HYPERLINK("x")', code: 'odd' }))
    const failed = await ask(bob)
    gateway.upstream.respondWith(async () => completion())
    const answered = await ask(bob)
    await eventually(async () =>
      expect(idsOf((await get(`requests?account_id=${bob.id}`)).body)).toContain(failed),
    )
    const { status, headers, body } = await get(`requests?format=csv&limit=1&account_id=${bob.id}`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(headers.get('content-disposition')).toContain('requests.csv')
    const [, ...lines] = String(body).trimEnd().split('\r\n')
    for (const id of [failed, answered])
      expect(lines.filter((line) => line.includes(id))).toEqual([expect.stringContaining(bob.keyId)])
    expect(body).not.toMatch(/(^|,)"?=/m)
    expect(String(body)).not.toContain(ada.id)
  })

  test('are for operators only, and an unknown account or request is 404', async () => {
    const key = await createStranger(gateway)
    for (const path of ['requests', 'request_errors']) {
      expect(failureOf(await gateway.request('GET', `/v1/admin/${path}`, { key }))).toEqual([
        403,
        'forbidden',
      ])
      expect(failureOf(await get(`${path}?account_id=${crypto.randomUUID()}`))).toEqual([404, 'not_found'])
      expect((await get(`${path}?key=no-id`)).status).toBe(400)
    }
    expect((await get(`requests/req_${'0'.repeat(32)}`)).status).toBe(404)
    const [failed = ''] = idsOf((await get(`requests?outcome=failed&account_id=${ada.id}`)).body)
    expect((await get(`requests/${failed}?account_id=${bob.id}`)).status).toBe(404)
  })
})

test('equal errors are counted together, with the accounts that have them, and lead to their requests', async () => {
  const messages = ['wait 3 s', 'wait 20 s', 'something else']
  gateway.upstream.respondWith(async () => failure(503, { message: messages[0], code: 'busy' }))
  const first = await ask(ada)
  gateway.upstream.respondWith(async () => failure(503, { message: messages[1], code: 'busy' }))
  const last = await ask(bob)
  gateway.upstream.respondWith(async () => failure(503, { message: messages[2], code: 'busy' }))
  await ask(bob)
  const { status, body } = await get('request_errors?error=busy&provider=vllm')
  expect([status, body.requests, body.has_more]).toEqual([200, 3, false])
  const [group] = body.data
  expect(body.data.map((one: { requests: number }) => one.requests)).toEqual([2, 1])
  expect(group).toMatchObject({
    provider: 'vllm',
    outcome: 'failed',
    http_status: 502,
    error_code: 'provider_error',
    upstream_error: { status: 503, code: 'busy', message: 'wait 20 s' },
    accounts: 2,
    models: ['single'],
    last_request_id: last,
  })
  expect(group.top_accounts).toEqual(
    expect.arrayContaining([{ account_id: ada.id, name: 'Ada', requests: 1 }]),
  )
  expect(group.first_seen_at <= group.last_seen_at).toBe(true)
  const { body: found } = await get(`requests?error_key=${group.error_key}`)
  expect(idsOf(found)).toEqual([last, first])
  const { body: ofAda } = await get(`request_errors?error=busy&account_id=${ada.id}`)
  expect(ofAda.data).toMatchObject([{ requests: 1, accounts: 1 }])
})

describe('the live requests of all accounts', () => {
  const LIVE = '/v1/admin/requests/live'
  const follow = (query: string): Promise<LiveStream> => followLive(gateway, {}, `${LIVE}?${query}`)
  /** The ids of the next event that has any. */
  const nextIds = async (stream: LiveStream): Promise<string[]> => {
    for (;;) {
      const event = await stream.next()
      expect(event).toMatchObject({ object: 'live_requests', is_cut: false })
      if (event.data.length > 0) return idsOf(event)
    }
  }

  test('200: tell the last requests that the filters find, and then each that ends', async () => {
    gateway.upstream.respondWith(completion())
    const before = await ask(ada)
    const stream = await follow(`account_id=${ada.id}`)
    const first = await stream.next()
    expect(idsOf(first).at(-1)).toBe(before)
    expect(first.data.at(-1)).toMatchObject({ account_name: 'Ada', upstream_error: null })
    await ask(bob)
    const after = await ask(ada)
    expect(await nextIds(stream)).toEqual([after])
    stream.leave()
  })

  test('are for operators only, within ten streams, and of accounts that exist', async () => {
    const key = await createStranger(gateway)
    expect(failureOf(await gateway.request('GET', LIVE, { key }))).toEqual([403, 'forbidden'])
    const unknown = '01890000-0000-7000-8000-000000000000'
    expect((await gateway.request('GET', `${LIVE}?account_id=${unknown}`)).status).toBe(404)
    expect((await gateway.request('GET', `${LIVE}?key=x`)).status).toBe(400)
    const streams = await Promise.all(Array.from({ length: 10 }, () => follow('')))
    expect(streams.every(({ status }) => status === 200)).toBe(true)
    expect(failureOf(await gateway.request('GET', LIVE))).toEqual([429, 'concurrency_limit_reached'])
    for (const { leave } of streams) leave()
  })
})
