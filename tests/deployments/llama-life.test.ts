import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { startHub, type HubServer } from '../upstreams/hub-server.ts'
import { chatWith, createOther, deploy, readEvents } from './deploy.ts'
import { argumentOf, findProcesses, readProcess } from './found-processes.ts'

let hub: HubServer
let gateway: TestGateway
let database: Database
let id: string

const ORDER = {
  gpu_tier: 'cpu_local',
  huggingface_id: 'acme/tiny-GGUF',
  idle_timeout_minutes: 0,
  env: { LLAMA_ARG_MODEL: '/etc/passwd' },
}
const ALLOWED = new Set([
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'TZ',
  'CUDA_VISIBLE_DEVICES',
  'CUDA_DEVICE_ORDER',
  'PARKWAY_ENGINE',
])
/** Starting Node and loading llama.cpp takes long on a busy machine. */
const START_MS_MAX = 120_000

const waitFor = (deploymentId: string, status: string) =>
  vi.waitFor(
    async () => {
      const { body } = await gateway.request('GET', `/v1/deployments/${deploymentId}`)
      expect([body.status, body.error_message]).toEqual([status, body.error_message])
      return body
    },
    { timeout: START_MS_MAX },
  )

/** Variables of the gateway that engines must not see. */
const SECRETS = { OPENAI_API_KEY: 'sk-secret', DATABASE_URL: 'postgres://secret', HF_TOKEN: 'hf_secret' }

beforeAll(async () => {
  for (const [name, value] of Object.entries(SECRETS)) vi.stubEnv(name, value)
  hub = await startHub({
    'acme/tiny-GGUF': { files: { 'README.md': {}, 'tiny-Q4_K_M.gguf': createTinyGguf() } },
  })
  // No engine is configured, so the built-in one is used.
  gateway = await startTestGateway({
    settings: {
      PARKWAY_GPU_DRIVER: 'local',
      HF_ENDPOINT: hub.url,
      PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
      PARKWAY_GPU_DRAIN_MS: '1000',
      PARKWAY_GPU_WAKE_MS: String(START_MS_MAX),
    },
  })
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
    prepareStatements: false,
  })
  id = await deploy(gateway, ORDER)
  await waitFor(id, 'running')
})
afterAll(async () => {
  await gateway.request('DELETE', `/v1/deployments/${id}`)
  await eventually(async () => expect(await findEngines()).toEqual([]))
  await database.close()
  await gateway.close()
  await hub.close()
  vi.unstubAllEnvs()
})

const findEngines = () => findProcesses('--alias=acme/tiny-GGUF')

async function readEngine(path: 'health' | 'metrics'): Promise<string> {
  const port = argumentOf((await findEngines())[0], 'port')
  return (await fetch(`http://127.0.0.1:${port}/${path}`)).text()
}

const countGenerated = async () =>
  Number(/^llamacpp:tokens_predicted_total (\d+)$/m.exec(await readEngine('metrics'))?.[1])

const HELLO = [{ role: 'user', content: 'Hello!' }]
/** Sampling settings that give the same tokens each time, on every wire. */
const FIXED = { temperature: 0, top_p: 1 }
const TOKENS = 10

const post = (path: string, body: object, signal?: AbortSignal): Promise<TestAnswer> =>
  gateway.request('POST', path, {
    body: { model: `byom-${id}`, ...body },
    ...(signal === undefined ? {} : { signal }),
  })

// oxlint-disable-next-line typescript/no-explicit-any -- events of four wires, of which one member each is looked at
const textOf = ({ body }: TestAnswer, pick: (event: Record<string, any>) => string | undefined) =>
  String(body)
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => pick(JSON.parse(line.slice('data: '.length))) ?? '')
    .join('')

describe('a GGUF model of the hub on this machine', () => {
  test('is downloaded, loaded, and gives the same answer on all APIs, with and without streaming', async () => {
    const { body: seen } = await gateway.request('GET', `/v1/deployments/${id}`)
    expect([seen.progress, seen.error_code]).toEqual([100, null])
    expect((await readEvents(gateway, id)).map(({ to }) => to)).toEqual(
      expect.arrayContaining(['queued', 'creating', 'starting', 'running']),
    )
    const chat = { messages: HELLO, ...FIXED, max_tokens: TOKENS }
    const whole = await post('/v1/chat/completions', chat)
    expect([whole.status, whole.body.model, whole.body.usage.completion_tokens]).toEqual([
      200,
      `byom-${id}`,
      TOKENS,
    ])
    const said: string = whole.body.choices[0].message.content
    expect(said.length).toBeGreaterThan(2)
    const streamed = await post('/v1/chat/completions', {
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(textOf(streamed, ({ choices }) => choices[0]?.delta.content)).toBe(said)
    expect(streamed.body).toContain(`"completion_tokens":${TOKENS}`)

    const message = await post('/v1/messages', chat)
    expect([message.status, message.body.content[0].text, message.body.stop_reason]).toEqual([
      200,
      said,
      'max_tokens',
    ])
    const messageEvents = await post('/v1/messages', { ...chat, stream: true })
    expect(textOf(messageEvents, ({ delta }) => delta?.text)).toBe(said)

    const asked = { input: 'Hello!', ...FIXED, max_output_tokens: TOKENS + 6, store: false }
    const response = await post('/v1/responses', asked)
    const answered: string = response.body.output[0].content[0].text
    expect([response.status, answered.startsWith(said)]).toEqual([200, true])
    const responseEvents = await post('/v1/responses', { ...asked, stream: true })
    expect(
      textOf(responseEvents, ({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')),
    ).toBe(answered)

    const legacy = { prompt: 'Hello!', ...FIXED, max_tokens: TOKENS }
    const completion = await post('/v1/completions', legacy)
    expect([completion.status, completion.body.usage?.completion_tokens]).toEqual([200, TOKENS])
    const completionEvents = await post('/v1/completions', { ...legacy, stream: true })
    expect(textOf(completionEvents, ({ choices }) => choices[0]?.text)).toBe(completion.body.choices[0].text)
  })

  test('follows a JSON schema and calls tools, on the APIs that support them', async () => {
    const schema = {
      type: 'object',
      properties: { mood: { enum: ['good', 'bad'] }, age: { type: 'integer' } },
      required: ['mood', 'age'],
      additionalProperties: false,
    }
    const isRight = (text: string) => {
      const { mood, age, ...rest } = JSON.parse(text)
      return [['good', 'bad'].includes(mood), Number.isInteger(age), Object.keys(rest).length]
    }
    const formatted = await post('/v1/chat/completions', {
      messages: HELLO,
      response_format: { type: 'json_schema', json_schema: { name: 'mood', schema, strict: true } },
    })
    expect(isRight(formatted.body.choices[0].message.content)).toEqual([true, true, 0])
    const response = await post('/v1/responses', {
      input: 'Hello!',
      text: { format: { type: 'json_schema', name: 'mood', schema, strict: true } },
    })
    expect(isRight(response.body.output[0].content[0].text)).toEqual([true, true, 0])
    const called = await post('/v1/chat/completions', {
      messages: HELLO,
      tools: [{ type: 'function', function: { name: 'set_mood', parameters: schema } }],
      tool_choice: 'required',
    })
    const [{ message, finish_reason }] = called.body.choices
    expect([message.tool_calls[0].function.name, finish_reason]).toEqual(['set_mood', 'tool_calls'])
    expect(isRight(message.tool_calls[0].function.arguments)).toEqual([true, true, 0])
    const used = await post('/v1/messages', {
      messages: HELLO,
      max_tokens: 200,
      tools: [{ name: 'set_mood', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'set_mood' },
    })
    const block = used.body.content.find(({ type }: { type: string }) => type === 'tool_use')
    expect([block.name, isRight(JSON.stringify(block.input)), used.body.stop_reason]).toEqual([
      'set_mood',
      [true, true, 0],
      'tool_use',
    ])
  })

  test('answers several requests at once, and refuses a prompt that is too long', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => chatWith(gateway, id, { body: { ...FIXED, max_tokens: 5 } })),
    )
    const texts = answers.map(({ body }) => body.choices[0].message.content)
    expect([answers.map(({ status }) => status), new Set(texts).size]).toEqual([Array(6).fill(200), 1])
    const long = await chatWith(gateway, id, {
      body: { messages: [{ role: 'user', content: 'a'.repeat(5_000) }] },
    })
    expect([long.status, long.body.error.type]).toEqual([400, 'invalid_request_error'])
    expect(long.body.error.message).toContain('maximum context length is 2048 tokens')
  })

  test('stops generating when the client disconnects', async () => {
    const left = new AbortController()
    const before = await countGenerated()
    // The answer takes longer than the test waits.
    const items = { const: 'abcdefghijklmnopqrstuvwxyz' }
    const schema = { type: 'array', items, minItems: 400 }
    const response = await gateway.fetch('POST', '/v1/chat/completions', {
      body: {
        model: `byom-${id}`,
        messages: HELLO,
        stream: true,
        response_format: { type: 'json_schema', json_schema: { name: 'long', schema } },
      },
      signal: left.signal,
    })
    expect(response.status).toBe(200)
    left.abort()
    await eventually(async () => expect(await readEngine('health')).toContain('"in_use":0'))
    // The complete context would be almost 2,000 tokens.
    expect((await countGenerated()) - before).toBeLessThan(1_500)
    expect((await chatWith(gateway, id, { body: { max_tokens: 2 } })).status).toBe(200)
  })

  test('does not pass secrets of the gateway or variables of the account to its engine', async () => {
    const [engine] = await findEngines()
    const keeper = /^PPid:\s+(\d+)$/m.exec(await readProcess(engine?.pid ?? '', 'status'))?.[1]
    for (const pid of [engine?.pid, keeper]) {
      const variables = (await readProcess(pid ?? '', 'environ')).split('\0').filter((line) => line !== '')
      expect(variables.length).toBeGreaterThan(0)
      const names = variables.map((line) => line.slice(0, line.indexOf('=')))
      expect(names.filter((name) => !ALLOWED.has(name))).toEqual([])
      expect(variables.join('\n')).not.toContain('secret')
    }
    const logs = await gateway.request('GET', `/v1/deployments/${id}/logs`)
    expect(JSON.stringify(logs.body)).toContain('the variable LLAMA_ARG_MODEL is not allowed here')
  })

  test('is refused if its id, revision, quantization or variables contain unsafe text', async () => {
    for (const hostile of [
      { huggingface_id: '../../etc/passwd' },
      { huggingface_id: '--model=/etc/passwd' },
      { huggingface_id: 'acme/tiny-GGUF;id' },
      { revision: '../main' },
      { revision: '--port=1' },
      { quantization: '../Q4_K_M' },
      { quantization: '$(id)' },
      { env: { LD_PRELOAD: '/tmp/evil.so' } },
      { env: { NODE_OPTIONS: '--require=/tmp/evil.js' } },
      { env: { LLAMA_ARG_MODEL: 'a\nb' } },
    ]) {
      const { status } = await gateway.request('POST', '/v1/deployments', { body: { ...ORDER, ...hostile } })
      expect([hostile, status]).toEqual([hostile, 400])
    }
  })

  test('cannot be used by other accounts', async () => {
    const { status, body } = await chatWith(gateway, id, { key: await createOther(gateway) })
    expect([status, body.error.code]).toEqual([404, 'model_not_found'])
  })

  test('has no process while it sleeps, and wakes for a request while the hub is unreachable', async () => {
    const [before] = await findEngines()
    await database.query(
      `UPDATE deployments SET desired_state = 'sleeping', intent = intent + 1, next_look_at = now(), updated_at = now() WHERE id = $1`,
      [id],
    )
    await waitFor(id, 'sleeping')
    await eventually(async () => expect(await findEngines()).toEqual([]))
    hub.failNext(503, 1_000)
    const woken = await chatWith(gateway, id, { body: { ...FIXED, max_tokens: 3 } })
    hub.failNext(503, 0)
    expect([woken.status, woken.body.usage?.completion_tokens]).toEqual([200, 3])
    const [after] = await findEngines()
    expect(after?.pid).not.toBe(before?.pid)
    expect(argumentOf(after, 'model')).toBe(argumentOf(before, 'model'))
  })
})
