import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completion, failure, stream, textCompletion, USAGE } from '../upstreams/openai-server.ts'
import { readEvents } from './read-events.ts'
import { COMPLETIONS, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      modelEntry('native', [{ provider: 'vllm', model: 'up/native' }], { aliases: ['native-alias'] }),
      modelEntry('talking', [{ provider: 'openai', model: 'up/talking' }]),
    ],
    providers: ['vllm'],
  })
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

const complete = (body: object) => gateway.request('POST', COMPLETIONS, { body })
const open = async (body: object) =>
  readEvents(await gateway.fetch('POST', COMPLETIONS, { body: { ...body, stream: true } }))

describe('text completions of an upstream that supports them', () => {
  test('the bytes are passed on except for the model name, the held output limit and a member that nobody knows', async () => {
    gateway.upstream.respondWith(textCompletion())
    const text =
      '{"model":"native-alias","prompt": ["a", "b"],"suffix":"z","echo":true,"best_of":2,"n":1, "logprobs":3,"stop":["x"],"x_own":1.0}'
    const { status, body, headers } = await gateway.request('POST', COMPLETIONS, { body: text })
    expect(status).toBe(200)
    const [request] = gateway.upstream.requests
    expect(request?.path).toBe('/vllm/v1/completions')
    const sent = text.replace('native-alias', 'up/native').replace(',"x_own":1.0}', ',"max_tokens":16}')
    expect(request?.text).toBe(sent)
    expect(body).toEqual({
      id: 'cmpl-upstream',
      object: 'text_completion',
      system_fingerprint: null,
      created: 1_750_000_000,
      model: 'native-alias',
      choices: [{ text: ' and so on', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: {
        ...USAGE,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost_usd: 0.000081,
      },
    })
    expect(headers.get('x-gateway-provider')).toBe('vllm')
    expect(headers.get('x-gateway-cost-usd')).toBe('0.000081')
  })

  test('a stream is passed on, with the usage in its own chunk', async () => {
    const piece = (text: string, finish_reason: string | null = null) => ({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 5,
      model: 'up/native',
      choices: [{ index: 0, text, logprobs: null, finish_reason }],
    })
    gateway.upstream.respondWith(
      stream([piece(' and'), piece(' so'), piece('', 'length'), { ...piece(''), choices: [], usage: USAGE }]),
    )
    const events = await open({ model: 'native', prompt: 'x', stream_options: { include_usage: true } })
    expect([events.content, events.isDone]).toEqual([' and so', true])
    expect(events.chunks.map(({ object, model }) => `${object} ${model}`)).toEqual(
      Array.from({ length: 4 }, () => 'text_completion native'),
    )
    expect(events.chunks.map(({ usage }) => usage?.cost_usd ?? null)).toEqual([null, null, null, 0.000081])
    expect(events.chunks[0].choices[0]).not.toHaveProperty('delta')
    expect(gateway.upstream.bodies()[0]).toMatchObject({ stream_options: { include_usage: true } })
  })

  test('errors of the upstream are reported as for chat', async () => {
    gateway.upstream.respondWith(failure(400, { message: 'suffix is not supported', param: 'suffix' }))
    const { status, body } = await complete({ model: 'native', prompt: 'x', suffix: 'y' })
    expect([status, body.error.message, body.error.param]).toEqual([400, 'suffix is not supported', 'suffix'])
  })
})

describe('bad requests', () => {
  test.each([
    [{ model: 'talking' }, 'missing_required_parameter', 'prompt'],
    [{ prompt: 'x' }, 'missing_required_parameter', 'model'],
    [{ model: 'talking', prompt: 5 }, 'invalid_value', 'prompt'],
    [{ model: 'talking', prompt: [] }, 'invalid_value', 'prompt'],
    [{ model: 'talking', prompt: [['a']] }, 'invalid_value', undefined],
    [{ model: 'talking', prompt: 'x', max_tokens: 0 }, 'invalid_value', 'max_tokens'],
    [{ model: 'talking', prompt: 'x', logprobs: true }, 'invalid_value', 'logprobs'],
    [{ model: 'talking', prompt: [9_999_999] }, 'invalid_value', 'prompt'],
    [{ model: 'gpt-image-2', prompt: 'x' }, 'invalid_value', 'model'],
    [{ model: 'nothing', prompt: 'x' }, 'model_not_found', 'model'],
  ])('%j: %s', async (body, code, param) => {
    gateway.upstream.respondWith(completion())
    const answer = await complete(body)
    expect(answer.status).toBe(code === 'model_not_found' ? 404 : 400)
    expect(answer.body.error.code).toBe(code)
    if (param !== undefined) expect(answer.body.error.param).toBe(param)
    expect(gateway.upstream.requests).toHaveLength(0)
  })
})
