import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells } from './wait-for-run.ts'

const DATASETS = '/v1/compare/datasets'
const NOBODY = '01890000-0000-7000-8000-000000000000'

let gateway: ChatGateway
let stranger: string

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue'])
  stranger = await createStranger(gateway)
  const echo = ({ messages }: { messages: { content: string }[] }) => messages.at(-1)?.content ?? ''
  gateway.upstream.respondWith(speakers({ red: echo, blue: echo }))
})
afterAll(() => gateway.close())

const make = (body: object) => gateway.request('POST', DATASETS, { body })
const read = async (id: string, query = '') =>
  (await gateway.request('GET', `${DATASETS}/${id}${query}`)).body

async function upload(name: string, content: string, members: Record<string, string> = {}) {
  const form = new FormData()
  for (const [member, value] of Object.entries(members)) form.set(member, value)
  form.set('file', new Blob([content]), name)
  const headers = { authorization: `Bearer ${gateway.key}` }
  const answer = await fetch(gateway.baseUrl + DATASETS, { method: 'POST', headers, body: form })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

describe('a dataset', () => {
  test('is created from prompts or test cases, and read with them', async () => {
    const { status, body: dataset } = await make({
      name: 'Capitals',
      description: 'Of countries',
      test_cases: [
        'One?',
        { input: 'France?', expected: 'Paris', id: 'fr' },
        { messages: [{ role: 'user', content: 'Hi' }], system: 'Be kind.' },
      ],
    })
    expect([status, dataset]).toEqual([
      201,
      expect.objectContaining({
        object: 'compare.dataset',
        name: 'Capitals',
        description: 'Of countries',
        prompts_total: 3,
      }),
    ])
    expect((await read(dataset.id)).prompts).toEqual([
      { id: null, messages: [{ role: 'user', content: 'One?' }], expected: null },
      { id: 'fr', messages: [{ role: 'user', content: 'France?' }], expected: 'Paris' },
      {
        id: null,
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'Hi' },
        ],
        expected: null,
      },
    ])
  })

  test('is read from CSV', async () => {
    const csv =
      'id,prompt,expected\r\n1,"Say ""hi"", now","{""type"":""contains"",""value"":""hi""}"\r\n2,"two\nlines",done\r\n'
    const { status, body: dataset } = await upload('greetings.csv', `\uFEFF${csv}`)
    expect([status, dataset.name, dataset.prompts_total]).toEqual([201, 'greetings', 2])
    expect((await read(dataset.id)).prompts).toEqual([
      {
        id: '1',
        messages: [{ role: 'user', content: 'Say "hi", now' }],
        expected: { type: 'contains', value: 'hi' },
      },
      { id: '2', messages: [{ role: 'user', content: 'two\nlines' }], expected: 'done' },
    ])
  })

  test.each([
    ['large.csv', (text: string) => `prompt\r\n"${text.replaceAll('"', '""')}"\r\nsecond\r\n`],
    ['large.jsonl', (text: string) => `${JSON.stringify(text)}\n"second"\n`],
  ])('is read from a large file without blocking other requests: %s', async (name, write) => {
    const text = '"'.repeat(100_000)
    const { status, body: dataset } = await upload(name, write(text))
    expect([status, dataset.prompts_total]).toEqual([201, 2])
    expect((await read(dataset.id)).prompts[0].messages[0].content).toBe(text)
    const broken = await upload(name, `${write(text)}"open`)
    expect([broken.status, broken.body.error.param]).toEqual([400, 'file'])
  })

  test('is read from JSON lines', async () => {
    const lines = ['"Just text"', '{"prompt":"France?","expected":{"city":"Paris"}}', '']
    const { status, body: dataset } = await upload('cities.jsonl', lines.join('\n'), { name: 'Cities' })
    expect([status, dataset.name, dataset.prompts_total]).toEqual([201, 'Cities', 2])
    expect((await read(dataset.id)).prompts[1].expected).toEqual({ city: 'Paris' })
  })

  test('gets a new version if its prompts change, and the old one if they change back', async () => {
    const { body: made } = await make({ name: 'v', prompts: ['one'] })
    const patch = async (body: object) =>
      (await gateway.request('PATCH', `${DATASETS}/${made.id}`, { body })).body
    const renamed = await patch({ name: 'w', description: 'new' })
    expect(renamed).toMatchObject({ name: 'w', description: 'new', version: made.version })
    const changed = await patch({ prompts: ['one', 'two'] })
    expect(changed).toMatchObject({ name: 'w', description: 'new', prompts_total: 2 })
    expect(changed.version).not.toBe(made.version)
    expect(await read(made.id, `?version=${made.version}`)).toMatchObject({
      version: made.version,
      prompts_total: 1,
    })
    expect((await patch({ prompts: ['one'], description: null })).version).toBe(made.version)
    const now = await read(made.id)
    expect(now).toMatchObject({ description: null, prompts_total: 1 })
    expect(now.versions.map(({ version }: { version: string }) => version)).toEqual([
      changed.version,
      made.version,
    ])
    expect((await gateway.request('GET', `${DATASETS}/${made.id}?version=none`)).status).toBe(404)
  })

  test('is pinned by the runs that use it', async () => {
    const { body: dataset } = await make({ name: 'pinned', prompts: [{ prompt: 'one', expected: 'one' }] })
    const lanes = { dataset_id: dataset.id, models: ['red', 'blue'] }
    const before = await makeRun(gateway, lanes)
    const { body: changed } = await gateway.request('PATCH', `${DATASETS}/${dataset.id}`, {
      body: { prompts: ['two', 'three'] },
    })
    const after = await makeRun(gateway, lanes)
    expect(before).toMatchObject({
      dataset_id: dataset.id,
      dataset_version: dataset.version,
      prompts_total: 1,
    })
    expect(after).toMatchObject({
      dataset_id: dataset.id,
      dataset_version: changed.version,
      prompts_total: 2,
    })
    expect((await readCells(gateway, before.id)).map(({ output, score }) => [output, score])).toEqual([
      ['one', 1],
      ['one', 1],
    ])
    const { body: runs } = await gateway.request('GET', `/v1/compare/runs?dataset_id=${dataset.id}`)
    expect(runs.total).toBe(2)
  })

  test('is listed until it is deleted, and its runs stay', async () => {
    const { body: dataset } = await make({ name: 'short-lived', prompts: ['one'] })
    const run = await makeRun(gateway, { dataset_id: dataset.id, models: ['red', 'blue'] })
    const { body: list } = await gateway.request('GET', `${DATASETS}?limit=1`)
    expect(list.datasets).toEqual(list.data)
    expect(list.data[0].id).toBe(dataset.id)
    const deleted = await gateway.request('DELETE', `${DATASETS}/${dataset.id}`)
    expect(deleted.body).toEqual({ id: dataset.id, object: 'compare.dataset', deleted: true })
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const body = method === 'PATCH' ? { body: {} } : {}
      expect((await gateway.request(method, `${DATASETS}/${dataset.id}`, body)).status).toBe(404)
    }
    expect(
      (
        await gateway.request('POST', '/v1/compare/runs', {
          body: { dataset_id: dataset.id, models: ['red', 'blue'] },
        })
      ).status,
    ).toBe(404)
    expect(await readCells(gateway, run.id)).toHaveLength(2)
  })

  test('a dataset of another account, or an unknown one, is not found', async () => {
    const { body: dataset } = await make({ name: 'mine', prompts: ['one'] })
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      for (const [key, id] of [
        [stranger, dataset.id],
        [gateway.key, NOBODY],
        [gateway.key, 'no-id'],
      ]) {
        const body = method === 'PATCH' ? { body: { name: 'yours' } } : {}
        const answer = await gateway.request(method, `${DATASETS}/${id}`, { key: key ?? '', ...body })
        expect([method, answer.status, answer.body.error.code]).toEqual([method, 404, 'not_found'])
      }
    }
    expect((await gateway.request('GET', DATASETS, { key: stranger })).body.data).toEqual([])
    const taken = await gateway.request('POST', '/v1/compare/runs', {
      key: stranger,
      body: { dataset_id: dataset.id, models: ['red', 'blue'] },
    })
    expect(taken.status).toBe(404)
    expect((await gateway.request('GET', DATASETS, { key: null })).status).toBe(401)
  })
})

describe('creating a dataset is refused', () => {
  test.each([
    ['without prompts', { name: 'x' }, 'missing_required_parameter', 'prompts'],
    ['without a name', { prompts: ['x'] }, 'missing_required_parameter', 'name'],
    ['with no prompt', { name: 'x', prompts: [] }, 'invalid_value', 'prompts'],
    ['with too many', { name: 'x', prompts: Array(1001).fill('x') }, 'invalid_value', 'prompts'],
    ['with prompts twice', { name: 'x', prompts: ['x'], test_cases: ['x'] }, 'invalid_value', 'prompts'],
    ['with a wrong prompt', { name: 'x', prompts: ['x', 4] }, 'invalid_value', 'prompts.1'],
    [
      'with two questions in one',
      { name: 'x', prompts: [{ prompt: 'x', messages: [{ role: 'user', content: 'y' }] }] },
      'invalid_value',
      'prompts.0',
    ],
    ['with what is no text', { name: 'a\u0000b', prompts: ['x'] }, 'invalid_value', 'name'],
  ])('%s', async (_, body, code, param) => {
    const answer = await make(body)
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, param])
  })

  test.each([
    ['no columns', 'x.csv', 'a,b\r\n1,2\r\n'],
    ['an open quote', 'x.csv', 'prompt\r\n"one\r\n'],
    ['no prompts', 'x.csv', 'prompt\r\n'],
    ['no JSON', 'x.jsonl', '{"prompt":\n'],
  ])('from a file with %s', async (_, name, content) => {
    const { status, body } = await upload(name, content)
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'file'])
  })

  test('from a file whose lines are not prompts', async () => {
    const { status, body } = await upload('x.jsonl', '"fine"\n{"expected":"x"}\n')
    expect([status, body.error.param]).toEqual([400, 'file.1'])
  })
})
