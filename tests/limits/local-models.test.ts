import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { CHAT, modelEntry } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion, startOpenAiServer, type RecordedRequest } from '../upstreams/openai-server.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const gateway of opened.splice(0).toReversed()) await gateway.close()
})

const LOCAL = modelEntry('home-model', [{ provider: 'vllm', model: 'home' }])
const WITH_FALLBACK = modelEntry('either', [
  { provider: 'vllm', model: 'home', priority: 1 },
  { provider: 'groq', model: 'elsewhere', priority: 2 },
])

/** Starts a gateway whose local upstream answers each request only when the test releases it. */
async function start(local: object) {
  const held: { request: RecordedRequest; answer: () => void }[] = []
  const upstream = await startOpenAiServer((request) => {
    if (request.path.startsWith('/groq')) return completion()
    return new Promise((resolve) => {
      held.push({ request, answer: () => resolve(completion()) })
    })
  })
  opened.push(upstream)
  const directory = await mkdtemp(join(tmpdir(), 'parkway-local-'))
  opened.push({ close: () => removeDirectory(directory) })
  const catalogFile = join(directory, 'catalog.json')
  await writeFile(catalogFile, JSON.stringify({ models: [LOCAL, WITH_FALLBACK] }))
  const settings = {
    VLLM_BASE_URL: `${upstream.baseUrl}/vllm/v1`,
    GROQ_API_KEY: 'sk-upstream',
    GROQ_BASE_URL: `${upstream.baseUrl}/groq/v1`,
    PARKWAY_CATALOG_FILE: catalogFile,
    PARKWAY_LIMITS: JSON.stringify({ local_models: local }),
  }
  const gateway = await startTestGateway({ settings })
  opened.push(gateway)
  const startSecond = async () => {
    const second = await startTestGateway({ connectionString: gateway.connectionString, settings })
    opened.push(second)
    return second
  }
  return { gateway, startSecond, held, contents: () => held.map(({ request }) => contentOf(request)) }
}

// oxlint-disable-next-line typescript/no-explicit-any -- the body of a recorded request is whatever was sent
const contentOf = ({ body }: RecordedRequest) => (body as any).messages[0].content

function ask(
  gateway: TestGateway,
  content: string,
  options: { key?: string; model?: string; signal?: AbortSignal } = {},
) {
  const { model = 'home-model', ...rest } = options
  return gateway.request('POST', CHAT, { ...rest, body: { model, messages: [{ role: 'user', content }] } })
}

const readStatus = async (gateway: TestGateway) => (await gateway.request('GET', '/v1/queue/status')).body
const waitForQueue = (gateway: TestGateway, depth: number) =>
  expect.poll(async () => (await readStatus(gateway)).queue_depth).toBe(depth)

async function createAccount(gateway: TestGateway): Promise<string> {
  const account = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'another', credit_usd: 5 },
  })
  const key = await gateway.request('POST', `/v1/admin/accounts/${account.body.id}/api-keys`, {
    body: { name: 'a key', env: 'dev' },
  })
  return key.body.key
}

test('a local model runs as many requests as it has slots; accounts take turns, each in the order of arrival', async () => {
  const { gateway, held, contents } = await start({ slots: { vllm: 1 } })
  const other = await createAccount(gateway)
  const answers = [ask(gateway, 'first')]
  await expect.poll(contents).toEqual(['first'])
  for (const [index, [content, key]] of (
    [
      ['second', gateway.key],
      ['third', gateway.key],
      ['of another', other],
    ] as const
  ).entries()) {
    answers.push(ask(gateway, content, { key }))
    await waitForQueue(gateway, index + 1)
  }
  for (let served = 0; served < 4; served += 1) {
    await expect.poll(() => held.length).toBe(served + 1)
    held[served]?.answer()
  }
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(contents()).toEqual(['first', 'second', 'of another', 'third'])
})

test('beyond the limit the queue is full, with a retry-after', async () => {
  const { gateway, held, contents } = await start({ slots: { vllm: 1 }, queue_max: 1 })
  const running = ask(gateway, 'first')
  await expect.poll(contents).toEqual(['first'])
  const waiting = ask(gateway, 'second')
  await waitForQueue(gateway, 1)
  const refused = await ask(gateway, 'third')
  expect([refused.status, refused.body.error.type, refused.body.error.code]).toEqual([
    429,
    'rate_limit_error',
    'queue_full',
  ])
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  const answered = await ask(gateway, 'fourth', { model: 'either' })
  expect([answered.status, answered.headers.get('x-gateway-provider')]).toEqual([200, 'groq'])
  held[0]?.answer()
  await running
  await expect.poll(() => held.length).toBe(2)
  held[1]?.answer()
  expect((await waiting).status).toBe(200)
})

test('a client that disconnects leaves the queue', async () => {
  const { gateway, held, contents } = await start({ slots: { vllm: 1 } })
  const running = ask(gateway, 'first')
  await expect.poll(contents).toEqual(['first'])
  const leaving = new AbortController()
  const gone = ask(gateway, 'gone', { signal: leaving.signal })
  await waitForQueue(gateway, 1)
  leaving.abort()
  await expect(gone).rejects.toThrow()
  await waitForQueue(gateway, 0)
  held[0]?.answer()
  await running
  const next = ask(gateway, 'next')
  await expect.poll(contents).toEqual(['first', 'next'])
  held[1]?.answer()
  expect((await next).status).toBe(200)
})

test('slots are shared by all processes, and the status covers all of them', async () => {
  const { gateway, held, startSecond } = await start({ slots: { vllm: 2 } })
  const second = await startSecond()
  const answers = [ask(gateway, 'a'), ask(second, 'b'), ask(gateway, 'c'), ask(second, 'd')]
  await expect.poll(() => held.length).toBe(2)
  await waitForQueue(second, 2)
  const model = expect.objectContaining({ model: 'home-model', ready: true, slots: 2, in_use: 2, queued: 2 })
  await expect
    .poll(() => readStatus(second))
    .toEqual({
      status: 'busy',
      gpus: expect.any(Array),
      models: expect.arrayContaining([model]),
      queue_depth: 2,
      tasks: { pending: 0, processing: 0 },
      updated_at: expect.stringMatching(/Z$/),
    })
  for (let served = 0; served < 4; served += 1) {
    await expect.poll(() => held.length).toBeGreaterThan(served)
    held[served]?.answer()
  }
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  await expect.poll(async () => (await readStatus(gateway)).status).toBe('ready')
})

test('without a local model there is no queue', async () => {
  const gateway = await startTestGateway()
  opened.push(gateway)
  expect(await readStatus(gateway)).toMatchObject({ status: 'ready', models: [], queue_depth: 0 })
  expect((await gateway.request('GET', '/v1/queue/status', { key: null })).status).toBe(401)
})
