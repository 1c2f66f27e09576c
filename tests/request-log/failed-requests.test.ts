import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { failure, silence } from '../upstreams/openai-server.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [modelEntry('single', [{ provider: 'vllm', model: 'upstream-name' }])],
    providers: ['vllm'],
  })
})

afterAll(async () => {
  await gateway.close()
})

/** Sends a request that fails, and returns its entry. */
async function fail(body: object | string, key = gateway.key, path = CHAT) {
  const answer = await gateway.request('POST', path, { body, key })
  expect(answer.status).toBeGreaterThanOrEqual(400)
  const requestId = answer.headers.get('x-request-id') ?? ''
  const { status, body: entry } = await gateway.request('GET', `/v1/requests/${requestId}`, { key })
  expect([status, entry.request_id]).toEqual([200, requestId])
  expect([entry.http_status, entry.error_code]).toEqual([answer.status, answer.body.error.code])
  return entry
}

async function createKey(account: object, members: object = {}) {
  const { body: created } = await gateway.request('POST', '/v1/admin/accounts', { body: account })
  const { body } = await gateway.request('POST', `/v1/admin/accounts/${created.id}/api-keys`, {
    body: members,
  })
  return { accountId: created.id, key: body.key as string, keyId: body.id as string }
}

describe('the log has requests that', () => {
  test('an upstream failed, with every attempt', async () => {
    gateway.upstream.respondWith(async () => failure(500))
    const entry = await fail(chatBody({ model: 'single', stream: true, user: 'ada' }))
    expect(entry).toMatchObject({
      outcome: 'failed',
      http_status: 502,
      error_code: 'provider_error',
      operation: 'chat',
      requested_model: 'single',
      model: 'single',
      provider: 'vllm',
      error_message: "The provider 'vllm' answered with an error.",
      stream: true,
      user: 'ada',
      cost_usd: 0,
      total_tokens: 0,
    })
    expect(entry.attempts.length).toBeGreaterThan(1)
    for (const attempt of entry.attempts)
      expect(attempt).toMatchObject({
        provider: 'vllm',
        model: 'upstream-name',
        outcome: 'status',
        http_status: 500,
      })
  })

  test.each([
    ['a wrong form', { model: 'single', messages: 'none' }, 400, null],
    ['text that is not JSON', '{"model":', 400, null],
    ['an unknown model', chatBody({ model: 'no; such|model+\u0000' }), 404, 'no; such|model+\u0000'],
  ])('were refused for %s', async (_, body, status, requestedModel) => {
    const entry = await fail(body)
    expect(entry).toMatchObject({
      outcome: 'refused',
      http_status: status,
      operation: 'chat',
      requested_model: requestedModel,
      model: null,
      attempts: [],
    })
  })

  test('an upstream failed are found by its name, and by a part of their message', async () => {
    gateway.upstream.respondWith(async () => failure(500))
    const entry = await fail(chatBody({ model: 'single', user: 'sought' }))
    const find = async (query: string) => {
      const { body } = await gateway.request('GET', `/v1/requests?${query}`)
      return body.data.map(({ id }: { id: string }) => id)
    }
    for (const query of [
      'provider=vllm&outcome=failed',
      'attempted_provider=vllm',
      'error=ANSWERED+with+an+err',
      'error=provider_error',
    ])
      expect(await find(query)).toContain(entry.id)
    for (const query of [
      'provider=llm',
      'attempted_provider=other',
      'error=nothing+like+this',
      'provider=vllm&outcome=completed',
    ])
      expect(await find(query)).not.toContain(entry.id)
  })

  test('were refused on a route of the framework', async () => {
    const entry = await fail({ prompt: 7 }, gateway.key, '/v1/images/generations')
    expect(entry).toMatchObject({ outcome: 'refused', http_status: 400, operation: 'image' })
  })

  test('were refused for credit', async () => {
    const { key } = await createKey({ name: 'poor', credit_usd: 0 })
    expect(await fail(chatBody({ model: 'single' }), key)).toMatchObject({
      outcome: 'refused',
      http_status: 402,
    })
  })

  test('were refused by a limit', async () => {
    const { key } = await createKey({ name: 'slow', credit_usd: 1 }, { requests_per_minute: 1 })
    await gateway.request('POST', CHAT, { body: chatBody({ model: 'no-such-model' }), key })
    expect(await fail(chatBody({ model: 'single' }), key)).toMatchObject({
      outcome: 'refused',
      http_status: 429,
      error_code: 'rate_limit_exceeded',
    })
  })

  test('were left by their client before an answer', async () => {
    gateway.upstream.respondWith(silence)
    const left = new AbortController()
    gateway.upstream.requests.length = 0
    const sent = gateway.fetch('POST', CHAT, {
      body: chatBody({ model: 'single', user: 'leaver' }),
      signal: left.signal,
    })
    await eventually(async () => expect(gateway.upstream.requests).toHaveLength(1))
    left.abort()
    await expect(sent).rejects.toThrow()
    await eventually(async () => {
      const { body } = await gateway.request('GET', '/v1/requests?outcome=disconnected')
      expect(body.data).toMatchObject([{ user: 'leaver', http_status: 499, error_code: null }])
    })
  })
})

describe('failed requests', () => {
  test('are listed between charged ones, and found by their status and code', async () => {
    gateway.upstream.respondWith(async () => failure(500))
    const first = await fail(chatBody({ model: 'single' }))
    const { body: answered } = await gateway.request('POST', CHAT, {
      body: chatBody({ model: 'gpt-4o-mini' }),
    })
    expect(answered.error.code).toBe('provider_error')
    const second = await fail({})
    const listed = async (query: string) =>
      (await gateway.request('GET', `/v1/requests?limit=3${query}`)).body.data.map(
        ({ id }: { id: string }) => id,
      )
    expect((await listed('')).slice(0, 3)).toEqual([second.id, expect.any(String), first.id])
    expect(await listed('&http_status=400')).toContain(second.id)
    expect(await listed('&http_status=400')).not.toContain(first.id)
    expect(await listed(`&error_code=${second.error_code}`)).toContain(second.id)
    expect(await listed('&model=single&outcome=failed')).toContain(first.id)
    expect(await listed('&min_cost_usd=0.000000001')).not.toContain(first.id)
    expect(await listed(`&request_id=${first.request_id}`)).toEqual([first.id])
  })

  test('are not seen by another account', async () => {
    const { key } = await createKey({ name: 'stranger' })
    const { id, request_id: requestId } = await fail({})
    expect((await gateway.request('GET', '/v1/requests', { key })).body.data).toEqual([])
    for (const name of [id, requestId])
      expect((await gateway.request('GET', `/v1/requests/${name}`, { key })).status).toBe(404)
  })

  test('are logged up to 60 a minute for each account; the rest is counted', async () => {
    const flooding = await createKey({ name: 'flooding' })
    for (let count = 0; count < 70; count += 1)
      await gateway.request('POST', CHAT, { body: {}, key: flooding.key })
    const { body } = await gateway.request('GET', '/v1/requests?limit=100', { key: flooding.key })
    expect(body.data).toHaveLength(60)
    const { body: metrics } = await gateway.request('GET', '/metrics')
    expect(metrics).toMatch(/parkway_request_log_dropped_total\{.*reason="minute_limit".*\} 10\n/)
    // Another account is not affected.
    const { key } = await createKey({ name: 'quiet' })
    await fail({}, key)
  })

  test('without a key are not logged', async () => {
    const answer = await gateway.request('POST', CHAT, { body: chatBody(), key: null })
    const requestId = answer.headers.get('x-request-id') ?? ''
    expect(answer.status).toBe(401)
    expect((await gateway.request('GET', `/v1/requests/${requestId}`)).status).toBe(404)
  })
})
