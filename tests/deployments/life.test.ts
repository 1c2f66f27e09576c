import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { chatWith, createOther, deploy, ORDER, readEvents, startGpuGateway, waitForStatus } from './deploy.ts'

let gateway: TestGateway
let other: string

beforeAll(async () => {
  gateway = await startGpuGateway()
  other = await createOther(gateway)
})
afterAll(() => gateway.close())

const modelIds = async (key?: string): Promise<string[]> => {
  const { body } = await gateway.request('GET', '/v1/models', key === undefined ? {} : { key })
  return body.data.map((model: { id: string }) => model.id)
}

describe('a deployment', () => {
  test('is created with default settings and passes through the states to running', async () => {
    const { status, body } = await gateway.request('POST', '/v1/deployments', { body: ORDER })
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        object: 'deployment',
        name: 'Qwen3-8B',
        huggingface_id: 'Qwen/Qwen3-8B',
        gpu_tier: 'l40s_48gb',
        provider: 'sandbox',
        quantization: 'auto',
        max_model_len: null,
        status: 'queued',
        desired_state: 'running',
        model_id: `byom-${body.id}`,
        hourly_cost: 1.95,
        budget_limit_usd: null,
        budget_spent_usd: 0,
        idle_timeout_minutes: 15,
        endpoints: { chat: `/v1/deployments/${body.id}/chat` },
      }),
    ])
    const running = await waitForStatus(gateway, body.id, 'running')
    expect(running).toMatchObject({ progress: 100, eta_minutes: null, error_code: null })
    expect(running.started_at).not.toBeNull()
    const events = await readEvents(gateway, body.id)
    expect(events.map(({ from, to }) => [from, to])).toEqual([
      [null, 'queued'],
      ['queued', 'creating'],
      ['creating', 'starting'],
      ['starting', 'running'],
    ])
  })

  test('answers its account as a model, and is in the model list while it runs', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const { status, body, headers } = await chatWith(gateway, id)
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ object: 'chat.completion', model: `byom-${id}` }),
    ])
    expect(body.choices[0].message.content.length).toBeGreaterThan(0)
    expect([headers.get('x-gateway-provider'), headers.get('x-gateway-cost-usd')]).toEqual(['sandbox', '0'])
    expect((await modelIds()).at(-1)).toBe(`byom-${id}`)
    const { body: model } = await gateway.request('GET', `/v1/models/byom-${id}`)
    expect(model).toMatchObject({ id: `byom-${id}`, source: 'dedicated', is_ready: true, category: 'llm' })
  })

  test('answers on every chat API', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const model = `byom-${id}`
    const messages = [{ role: 'user', content: 'Hello!' }]
    const calls: [string, object][] = [
      ['/v1/completions', { model, prompt: 'Hello', max_tokens: 8 }],
      ['/v1/messages', { model, messages, max_tokens: 64 }],
      ['/v1/responses', { model, input: 'Hello!' }],
      [`/v1/deployments/${id}/chat`, { messages }],
      [`/v1/deployments/${id}/chat/completions`, { messages }],
    ]
    for (const [path, body] of calls) {
      const answer = await gateway.request('POST', path, { body })
      expect([path, answer.status, answer.body.model]).toEqual([path, 200, model])
    }
    const stream = await gateway.request('POST', `/v1/deployments/${id}/chat`, {
      body: { messages, stream: true },
    })
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    expect(stream.body).toContain('data: [DONE]')
  })

  test('does not exist for other accounts, like an unknown model', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const theirs = await chatWith(gateway, id, { key: other })
    const nobodys = await gateway.request('POST', '/v1/chat/completions', {
      key: other,
      body: { model: 'byom-none', messages: [{ role: 'user', content: 'Hello!' }] },
    })
    expect([theirs.status, theirs.body.error.code, theirs.body.error.param]).toEqual([
      404,
      'model_not_found',
      'model',
    ])
    expect(nobodys.body.error.message).toBe(theirs.body.error.message.replace(`byom-${id}`, 'byom-none'))
    expect(await modelIds(other)).not.toContain(`byom-${id}`)
    expect((await gateway.request('GET', `/v1/models/byom-${id}`, { key: other })).status).toBe(404)
    const chat = await gateway.request('POST', `/v1/deployments/${id}/chat`, {
      key: other,
      body: { messages: [{ role: 'user', content: 'Hello!' }] },
    })
    expect([chat.status, chat.body.error.code]).toEqual([404, 'not_found'])
  })

  test('stops on request, refuses chats with 409, and starts again', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const { body: stopping } = await gateway.request('POST', `/v1/deployments/${id}/stop`)
    expect(stopping.desired_state).toBe('stopped')
    const stopped = await waitForStatus(gateway, id, 'stopped')
    expect(stopped.stopped_at).not.toBeNull()
    const refused = await chatWith(gateway, id)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'deployment_not_ready'])
    expect(await modelIds()).not.toContain(`byom-${id}`)
    await gateway.request('POST', `/v1/deployments/${id}/start`)
    await waitForStatus(gateway, id, 'running')
    expect((await chatWith(gateway, id)).status).toBe(200)
    const types = (await readEvents(gateway, id)).map(({ type }) => type)
    expect(types.join(' ')).toBe(
      'created creating starting running stop_requested stopping stopped start_requested creating starting running',
    )
  })

  test('returns 404 after deletion, except for its events', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const { status, body } = await gateway.request('DELETE', `/v1/deployments/${id}`)
    expect([status, body]).toEqual([200, { id, object: 'deployment', deleted: true, ok: true }])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/start'],
      ['POST', '/stop'],
      ['GET', '/billing'],
      ['GET', '/logs'],
      ['DELETE', ''],
    ] as const)
      expect((await gateway.request(method, `/v1/deployments/${id}${path}`)).status).toBe(404)
    expect((await chatWith(gateway, id)).status).toBe(404)
    const { body: list } = await gateway.request('GET', '/v1/deployments?limit=100')
    expect(list.deployments.map((one: { id: string }) => one.id)).not.toContain(id)
    await expect
      .poll(async () => (await readEvents(gateway, id)).at(-1), { timeout: 10_000 })
      .toMatchObject({ to: 'deleted' })
  })
})
