import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey } from './join-account.ts'

let gateway: TestGateway
let other: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
})
afterAll(async () => {
  await other.close()
  await gateway.close()
})

const MODEL = 'gpt-5.4-mini'
const at = (projectId: string) => `/v1/organization/projects/${projectId}/rate_limits`

async function limit(projectId: string, members: object, model = MODEL, key = gateway.key) {
  const answer = await gateway.request('POST', `${at(projectId)}/rl-${model}`, { key, body: members })
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body
}

function chat(on: TestGateway, key: string, members: object = {}): Promise<TestAnswer> {
  const body = { model: MODEL, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, ...members }
  return on.request('POST', '/v1/chat/completions', { key, body })
}

/** Sends requests to both processes at once and counts the admitted ones. */
async function countAdmitted(keys: readonly string[], count: number, members: object = {}) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      chat(index % 2 === 0 ? gateway : other, keys[index % keys.length] ?? '', members),
    ),
  )
  expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 429)).toEqual([])
  return answers.filter(({ status }) => status === 200).length
}

async function projectWith(members: object, model = MODEL): Promise<{ id: string; keys: string[] }> {
  const id = await createProject(gateway)
  await limit(id, members, model)
  return { id, keys: [await createProjectKey(gateway, id), await createProjectKey(gateway, id)] }
}

describe('the list', () => {
  test('has every model that the project may use, with the limits of the tier as defaults', async () => {
    const id = await createProject(gateway)
    const { body } = await gateway.request('GET', `${at(id)}?limit=100`)
    const { body: tenant } = await gateway.request('GET', '/v1/tenants/me')
    const { requests_per_minute: requests, tokens_per_minute: tokens } = tenant.limits
    const [plain, image] = [MODEL, 'gpt-image-2'].map((model) =>
      body.data.find((one: { model: string }) => one.model === model),
    )
    const usual = { max_requests_per_1_minute: requests, max_tokens_per_1_minute: tokens }
    expect(plain).toEqual({ object: 'project.rate_limit', id: `rl-${MODEL}`, model: MODEL, ...usual })
    expect(image.max_images_per_1_minute).toBe(requests)
    const permissions = `/v1/organization/projects/${id}/model_permissions`
    await gateway.request('POST', permissions, { body: { mode: 'allow_list', model_ids: [MODEL] } })
    const { body: less } = await gateway.request('GET', at(id))
    expect(less.data.map(({ model }: { model: string }) => model)).toEqual([MODEL])
  })

  test('has pages in both directions', async () => {
    const id = await createProject(gateway)
    const read = async (query: string) => {
      const { body } = await gateway.request('GET', `${at(id)}?limit=3${query}`)
      return { ids: body.data.map((one: { id: string }) => one.id), more: body.has_more }
    }
    const first = await read('')
    const second = await read(`&after=${first.ids[2]}`)
    expect(new Set([...first.ids, ...second.ids]).size).toBe(6)
    expect(await read(`&before=${second.ids[0]}`)).toEqual({ ids: first.ids, more: false })
    expect((await gateway.request('GET', `${at(id)}?after=rl-nobody`)).status).toBe(400)
  })
})

describe('a limit', () => {
  test('is changed member by member, and null leaves it to the account', async () => {
    const id = await createProject(gateway)
    const set = await limit(id, { max_requests_per_1_minute: 100, max_requests_per_1_day: 1000 })
    expect(set).toMatchObject({ max_requests_per_1_minute: 100, max_requests_per_1_day: 1000 })
    const tokens = await limit(id, { max_tokens_per_1_minute: 5000 })
    expect(tokens).toMatchObject({ max_requests_per_1_minute: 100, max_tokens_per_1_minute: 5000 })
    const cleared = await limit(id, { max_requests_per_1_day: null })
    expect('max_requests_per_1_day' in cleared).toBe(false)
    const { body } = await gateway.request('GET', `${at(id)}?limit=100`)
    expect(body.data.find((one: { model: string }) => one.model === MODEL)).toEqual(cleared)
  })

  test.each([
    ['zero', MODEL, { max_requests_per_1_minute: 0 }, 400],
    ['a fraction', MODEL, { max_requests_per_1_minute: 1.5 }, 400],
    ['more than fits', MODEL, { max_tokens_per_1_minute: 1e15 }, 400],
    ['images of a model that writes', MODEL, { max_images_per_1_minute: 5 }, 400],
    ['audio of a model that hears none', MODEL, { max_audio_megabytes_per_1_minute: 5 }, 400],
    ['batches, which there are none of', MODEL, { batch_1_day_max_input_tokens: 5 }, 400],
    ['an unknown member', MODEL, { max_cats: 5 }, 400],
    ['a model that does not exist', 'nobody', { max_requests_per_1_minute: 5 }, 404],
    ['an alias', 'codex-mini', { max_requests_per_1_minute: 5 }, 404],
  ])('is refused with %s', async (_, model, body, status) => {
    const id = await createProject(gateway)
    expect((await gateway.request('POST', `${at(id)}/rl-${model}`, { body })).status).toBe(status)
  })

  test('is read but not changed by the project, and unknown to other accounts and projects', async () => {
    const id = await createProject(gateway)
    const body = { max_requests_per_1_minute: 5 }
    const key = await createProjectKey(gateway, id)
    expect((await gateway.request('GET', at(id), { key })).status).toBe(200)
    expect((await gateway.request('POST', `${at(id)}/rl-${MODEL}`, { key, body })).status).toBe(403)
    const foreign = await createStranger(gateway)
    const elsewhere = await createProjectKey(gateway, await createProject(gateway))
    for (const refused of [foreign, elsewhere]) {
      expect((await gateway.request('GET', at(id), { key: refused })).status).toBe(404)
      expect((await gateway.request('POST', `${at(id)}/rl-${MODEL}`, { key: refused, body })).status).toBe(
        refused === elsewhere ? 403 : 404,
      )
    }
    await gateway.request('POST', `/v1/organization/projects/${id}/archive`)
    expect((await gateway.request('POST', `${at(id)}/rl-${MODEL}`, { body })).status).toBe(409)
  })
})

describe('over all keys and processes together', () => {
  test('requests a minute are exact, by any name of the model', async () => {
    const { keys } = await projectWith({ max_requests_per_1_minute: 30 })
    const startedMs = performance.now()
    const admitted =
      (await countAdmitted(keys, 40)) + (await countAdmitted(keys, 40, { model: 'codex-mini' }))
    const refilled = Math.ceil((performance.now() - startedMs) / 2000)
    expect(admitted).toBeGreaterThanOrEqual(30)
    expect(admitted).toBeLessThanOrEqual(30 + refilled)
  })

  test('requests a day are exact, whatever refills within a minute', async () => {
    const { id, keys } = await projectWith({ max_requests_per_1_day: 25 })
    expect(await countAdmitted(keys, 60)).toBe(25)
    const { status, headers, body } = await chat(gateway, keys[0] ?? '')
    expect([status, body.error.message]).toEqual([
      429,
      expect.stringContaining("25 requests a day to 'gpt-5.4-mini'"),
    ])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(86_400)
    await limit(id, { max_requests_per_1_day: 30 })
    expect(await countAdmitted(keys, 20)).toBe(5)
    await limit(id, { max_requests_per_1_day: null })
    expect(await countAdmitted(keys, 6)).toBe(6)
  })

  test('tokens a minute stop requests that would not fit', async () => {
    const { keys } = await projectWith({ max_tokens_per_1_minute: 1000 })
    const first = await chat(gateway, keys[0] ?? '', { max_tokens: 1000 })
    expect(first.status).toBe(200)
    // What was not used was given back.
    expect((await chat(gateway, keys[1] ?? '', { max_tokens: 700 })).status).toBe(200)
    const admitted = await countAdmitted(keys, 20, { max_tokens: 400 })
    expect(admitted).toBeLessThan(20)
  })
})

test('a refusal has the usual headers and names what the project may do', async () => {
  const { keys } = await projectWith({ max_requests_per_1_minute: 1 })
  await chat(gateway, keys[0] ?? '')
  let refused = await chat(gateway, keys[1] ?? '')
  if (refused.status === 200) refused = await chat(gateway, keys[1] ?? '')
  const { status, headers, body } = refused
  expect([status, body.error.code, body.error.type]).toEqual([429, 'rate_limit_exceeded', body.error.type])
  expect(body.error.message).toContain("This project may use 1 requests a minute to 'gpt-5.4-mini'.")
  expect(headers.get('x-ratelimit-limit-requests')).toBe('1')
  expect(headers.get('x-ratelimit-remaining-requests')).toBe('0')
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  const { text } = await readMetrics()
  expect(text).toMatch(/parkway_limit_refusals_total\{layer="project"\} [1-9]/)
})

async function readMetrics(): Promise<{ text: string }> {
  const response = await gateway.fetch('GET', '/metrics')
  return { text: await response.text() }
}

test('other models, other projects and the keys of the account are not limited', async () => {
  const { keys } = await projectWith({ max_requests_per_1_day: 1 })
  expect(await countAdmitted(keys, 4)).toBe(1)
  expect(await countAdmitted(keys, 4, { model: 'gpt-5.4' })).toBe(4)
  const neighbour = await createProjectKey(gateway, await createProject(gateway))
  expect(await countAdmitted([neighbour, gateway.key], 4)).toBe(4)
})

test('images a minute count the images and not the requests, also of tasks', async () => {
  const { keys } = await projectWith({ max_images_per_1_minute: 4 }, 'gpt-image-2')
  const [key = ''] = keys
  const order = (n: number) =>
    gateway.request('POST', '/v1/images/generations', {
      key,
      body: { model: 'gpt-image-2', prompt: 'A cube', n },
    })
  expect((await order(4)).status).toBe(200)
  expect((await order(2)).status).toBe(429)
})

test('a request that names no model counts as the model that it gets', async () => {
  const { keys } = await projectWith({ max_requests_per_1_day: 1 }, 'omni-moderation-latest')
  const [key = ''] = keys
  const ask = () => gateway.request('POST', '/v1/moderations', { key, body: { input: 'Hi' } })
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 429])
})

test('megabytes of recordings a minute', async () => {
  const { keys } = await projectWith({ max_audio_megabytes_per_1_minute: 1 }, 'whisper-large-v3')
  const [key = ''] = keys
  const speech = { model: 'tts-1', input: 'One, two, three.', voice: 'alloy', response_format: 'wav' }
  const spoken = await gateway.fetch('POST', '/v1/audio/speech', { body: speech })
  const wav = Buffer.from(await spoken.arrayBuffer())
  // Silence up to 900 kB, so that two recordings are more than a megabyte.
  const long = Buffer.concat([wav, Buffer.alloc(Math.max(0, 900_000 - wav.length))])
  const body = { model: 'whisper-large-v3', file: long.toString('base64') }
  const hear = () => gateway.request('POST', '/v1/audio/transcriptions', { key, body })
  expect([(await hear()).status, (await hear()).status]).toEqual([200, 429])
})
