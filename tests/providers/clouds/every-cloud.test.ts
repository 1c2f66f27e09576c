import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody } from '../../chat/start-chat-gateway.ts'
import { readEvents } from '../../chat/read-events.ts'
import { PNG_BASE64, PNG_DATA_URI } from '../../clients/sample-inputs.ts'
import { startThreeClouds } from './three-clouds.ts'

/** What all three clouds promise alike. Each signs in by tokens that end. */
const { gateway, clouds, addNew, pass, reset, close } = await startThreeClouds()
beforeEach(() => reset())
afterAll(close)

const MINUTE_MS = 60_000
const REQUESTS = 100
const TOOL = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}
const CLOUDS = Object.values(clouds).map((cloud) => [cloud.id, cloud] as const)

const ask = (model: string, members: object = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) })
const askAll = async (model: string) => {
  const answers = await Promise.all(Array.from({ length: REQUESTS }, () => ask(model)))
  return new Set(answers.map(({ status }) => status))
}

describe.each(CLOUDS)('%s', (id, cloud) => {
  test('sees images, and calls tools whole and streamed', async () => {
    const content = [{ type: 'image_url', image_url: { url: PNG_DATA_URI } }]
    expect((await ask(id, { messages: [{ role: 'user', content }] })).status).toBe(200)
    expect(cloud.server.requests.at(-1)?.text).toContain(PNG_BASE64)
    const whole = (await ask(id, { tools: [TOOL] })).body.choices[0]
    const body = chatBody({ model: id, tools: [TOOL], stream: true })
    const { chunks } = await readEvents(await gateway.fetch('POST', CHAT, { body }))
    const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    for (const calls of [whole.message.tool_calls, pieces]) {
      const written = calls.map(
        (call: { function?: { arguments?: string } }) => call.function?.arguments ?? '',
      )
      expect([calls[0].function.name, JSON.parse(written.join(''))]).toEqual(['weather', { city: 'Oslo' }])
    }
    expect(whole.finish_reason).toBe('tool_calls')
  })

  test('embeds', async () => {
    const body = { model: `${id}-embedding`, input: ['one', 'three'] }
    const answer = await gateway.request('POST', '/v1/embeddings', { body })
    expect([answer.status, answer.body.data.length]).toEqual([200, 2])
    expect(answer.body.usage.prompt_tokens).toBeGreaterThan(0)
  })

  test('is asked for one token by a hundred requests at once', async () => {
    await addNew(cloud)
    expect(await askAll(`new-${id}`)).toEqual(new Set([200]))
    expect([cloud.tokens.requests.length, cloud.server.requests.length]).toEqual([1, REQUESTS])
  })

  test('a token that is worth nothing any more is replaced once, and each request sent again once', async () => {
    await ask(id)
    reset()
    pass(2 * MINUTE_MS)
    cloud.revokeAll()
    expect(await askAll(id)).toEqual(new Set([200]))
    expect(cloud.tokens.requests).toHaveLength(1)
    expect(cloud.server.requests.length).toBeLessThanOrEqual(2 * REQUESTS)
  })

  test('a token that is refused though it is new is not asked for again and again', async () => {
    await addNew(cloud)
    expect((await ask(`new-${id}`)).status).toBe(200)
    reset()
    cloud.revokeAll()
    const answer = await ask(`new-${id}`)
    expect([answer.status, cloud.tokens.requests.length]).toEqual([502, 0])
    expect(JSON.stringify(answer.body)).not.toMatch(cloud.secrets)
    pass(2 * MINUTE_MS)
    expect((await ask(id)).status).toBe(200)
  })

  test('a throttled request goes to the next route at once', async () => {
    cloud.server.respondWith(cloud.throttled('60'))
    const answer = await ask(`${id}-first`)
    expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([
      200,
      expect.not.stringMatching(id),
    ])
    expect(cloud.server.requests).toHaveLength(1)
  })

  test('without another route a client is told when to come back, and nothing of the account', async () => {
    cloud.server.respondWith(cloud.throttled('30'))
    const answer = await ask(id)
    expect([answer.status, cloud.server.requests.length]).toEqual([429, 1])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(29)
    expect(JSON.stringify(answer.body)).not.toMatch(cloud.secrets)
  })

  test('tells an operator what is wrong with the place, and a client nothing of it', async () => {
    await addNew(cloud, cloud.elsewhere)
    const tested = await gateway.request('POST', `/v1/admin/providers/new-${id}/test`, {
      body: { model: `new-${id}` },
    })
    expect(tested.body).toMatchObject({ is_ok: false, message: expect.stringMatching(cloud.elsewhere.said) })
    const answer = await ask(`new-${id}`)
    expect(answer.status).toBe(502)
    expect(JSON.stringify(answer.body)).not.toMatch(cloud.secrets)
  })

  test('lists what its routes may name, or says why it cannot', async () => {
    const { status, body } = await gateway.request('GET', `/v1/admin/providers/${id}/models`)
    if (typeof cloud.listed === 'string') {
      expect([status, body.error.message]).toEqual([400, expect.stringContaining(cloud.listed)])
      return
    }
    expect([status, body.data.map((model: { id: string }) => model.id)]).toEqual([200, cloud.listed])
    // It is signed as all requests are.
    await addNew(cloud, { address: cloud.address, members: cloud.elsewhere.members ?? {} })
    if (cloud.elsewhere.members === undefined) return
    const refused = await gateway.request('GET', `/v1/admin/providers/new-${id}/models`)
    expect([refused.status, refused.body.error.message]).toEqual([
      502,
      expect.stringContaining('answered 403'),
    ])
  })
})
