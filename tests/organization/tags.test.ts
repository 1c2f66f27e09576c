import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey } from './join-account.ts'

let gateway: TestGateway
let database: Client

beforeAll(async () => {
  gateway = await startTestGateway()
  database = new Client({
    connectionString: gateway.connectionString,
    options: '-c search_path=parkway',
  })
  await database.connect()
})
afterAll(async () => {
  await database.end()
  await gateway.close()
})

const HEADER = 'x-gateway-tags'
const CHAT = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }

interface Asked {
  readonly tags?: string
  readonly key?: string
  readonly body?: object
  readonly path?: string
}

function ask({
  tags,
  key = gateway.key,
  body = CHAT,
  path = '/v1/chat/completions',
}: Asked): Promise<TestAnswer> {
  return gateway.request('POST', path, { key, body, headers: tags === undefined ? {} : { [HEADER]: tags } })
}

/** The labels of the charge of a request. */
async function labelsOf({ status, headers, body }: TestAnswer): Promise<string[] | null> {
  expect([status, body]).toEqual([200, body])
  await gateway.request('GET', '/v1/usage/records?limit=1')
  const id = (headers.get('x-request-id') ?? '').replace('req_', '')
  const { rows } = await database.query('SELECT labels FROM usage_records WHERE id = $1::uuid', [id])
  expect(rows).toHaveLength(1)
  return rows[0].labels
}

describe('the tags of a request', () => {
  test('are those of its header, in the order of their names', async () => {
    expect(await labelsOf(await ask({ tags: 'team=search, feature=chat' }))).toEqual([
      'tag:feature=chat',
      'tag:team=search',
    ])
    expect(await labelsOf(await ask({}))).toBeNull()
    expect(await labelsOf(await ask({ tags: '' }))).toBeNull()
  })

  test('are also the texts of its metadata that fit, and the header wins', async () => {
    const metadata = { team: 'ads', Run: 'no tag', note: 'a, b', empty: '', run_id: 'ü 7' }
    expect(await labelsOf(await ask({ tags: 'team=search', body: { ...CHAT, metadata } }))).toEqual([
      'tag:run_id=ü 7',
      'tag:team=search',
    ])
    const responses = { model: CHAT.model, input: 'Hi', max_output_tokens: 16, metadata: { team: 'ads' } }
    expect(await labelsOf(await ask({ path: '/v1/responses', body: responses }))).toEqual(['tag:team=ads'])
  })

  test('have, on the Messages wire, the user of its metadata', async () => {
    const body = { ...CHAT, metadata: { user_id: 'ada' } }
    expect(await labelsOf(await ask({ path: '/v1/messages', body }))).toEqual(['tag:user_id=ada'])
  })

  test.each([
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }],
    ['/v1/moderations', { input: 'Hi' }],
    ['/v1/audio/speech', { model: 'gpt-4o-mini-tts', input: 'Hi', voice: 'alloy' }],
  ])('are those of a charge on %s', async (path, body) => {
    const answer = await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        [HEADER]: 'team=search',
      },
      body: JSON.stringify(body),
    })
    await answer.arrayBuffer()
    const { status, headers } = answer
    expect(await labelsOf({ status, headers, body: null })).toEqual(['tag:team=search'])
  })

  test('are kept by a task until it is charged', async () => {
    const body = { model: 'gpt-image-1-mini', prompt: 'A fox' }
    const { status, body: task } = await gateway.request('POST', '/v1/images/generations', {
      body,
      headers: { [HEADER]: 'team=search', prefer: 'respond-async' },
    })
    expect(status).toBe(202)
    const read = async () =>
      (await gateway.request('GET', `/v1/tasks/${task.id ?? task.task_id}`)).body.status
    await expect.poll(read, { timeout: 20_000 }).toBe('completed')
    const { rows } = await database.query("SELECT labels FROM usage_records WHERE operation = 'image'")
    expect(rows).toEqual([{ labels: ['tag:team=search'] }])
  })

  test('can be ten, and values can be long', async () => {
    const ten = Array.from({ length: 10 }, (_, index) => `n${index}=${'v'.repeat(128)}`)
    expect(await labelsOf(await ask({ tags: ten.join(',') }))).toHaveLength(10)
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`m${index}`, 'v']))
    expect(await labelsOf(await ask({ tags: 'a=b', body: { ...CHAT, metadata } }))).toHaveLength(10)
  })

  test.each([
    ['eleven tags', Array.from({ length: 11 }, (_, index) => `n${index}=v`).join(',')],
    ['a name in capitals', 'Team=search'],
    ['no value', 'team'],
    ['an empty value', 'team='],
    ['an empty name', '=search'],
    ['two values', 'team=a=b'],
    ['the same name twice', 'team=a,team=b'],
    ['a value that is too long', `team=${'v'.repeat(129)}`],
    ['a name that is too long', `${'n'.repeat(65)}=v`],
    ['an end without a tag', 'team=a,'],
    ['bytes that are no text', 'team=\u00ff'],
  ])('are refused in a header with %s, and nothing is charged', async (_, tags) => {
    const { status, body } = await ask({ tags })
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', HEADER])
  })
})

describe('a key or a project', () => {
  const AT = '/v1/tenants/me/api-keys'
  const createKey = async (members: object, key = gateway.key) =>
    gateway.request('POST', AT, { key, body: { name: 'tagged', ...members } })

  test('demands tags, which a request gives by its header or its metadata', async () => {
    const { body } = await createKey({ required_tags: ['team', 'feature'] })
    expect([body.required_tags, body.fixed_tags]).toEqual([['team', 'feature'], undefined])
    const refused = await ask({ key: body.key, tags: 'team=search' })
    expect([refused.status, refused.body.error.code]).toEqual([400, 'missing_tags'])
    expect(refused.body.error.message).toContain('feature')
    const metadata = { feature: 'chat' }
    expect((await ask({ key: body.key, tags: 'team=a', body: { ...CHAT, metadata } })).status).toBe(200)
    const image = { model: 'gpt-image-1-mini', prompt: 'A fox' }
    const task = await ask({ key: body.key, path: '/v1/images/generations', body: image })
    expect([task.status, task.body.error.code]).toEqual([400, 'missing_tags'])
    expect((await gateway.request('GET', '/v1/models', { key: body.key })).status).toBe(200)
  })

  test('fixes tags, which a request cannot change', async () => {
    const { body } = await createKey({ fixed_tags: { team: 'search' }, required_tags: ['team'] })
    expect(await labelsOf(await ask({ key: body.key }))).toEqual(['tag:team=search'])
    const tags = 'team=other,x=y'
    expect(await labelsOf(await ask({ key: body.key, tags }))).toEqual(['tag:team=search', 'tag:x=y'])
  })

  test('in a project apply to all its keys at once, and win over those of the key', async () => {
    const project = await createProject(gateway)
    const key = await createProjectKey(gateway, project)
    expect((await ask({ key })).status).toBe(200)
    const at = `/v1/organization/projects/${project}`
    const changed = await gateway.request('POST', at, {
      body: { required_tags: ['feature'], fixed_tags: { team: 'search' } },
    })
    expect(changed.body).toMatchObject({ required_tags: ['feature'], fixed_tags: { team: 'search' } })
    expect((await ask({ key })).status).toBe(400)
    const made = await createKey({ project_id: project, fixed_tags: { team: 'mine', cost: 'x' } })
    expect(await labelsOf(await ask({ key: made.body.key, tags: 'feature=f' }))).toEqual([
      'tag:cost=x',
      'tag:feature=f',
      'tag:team=search',
    ])
    await gateway.request('POST', at, { body: { required_tags: [], fixed_tags: null } })
    expect((await gateway.request('GET', at)).body).not.toHaveProperty('fixed_tags')
    expect(await labelsOf(await ask({ key }))).toBeNull()
    expect((await ask({ key })).status).toBe(200)
  })

  test('may be read and changed with its key, and nothing that is no tag is taken', async () => {
    const { body } = await createKey({ fixed_tags: { team: 'a' } })
    const at = `${AT}/${body.id}`
    expect((await gateway.request('GET', at)).body.fixed_tags).toEqual({ team: 'a' })
    const changed = await gateway.request('PATCH', at, { body: { required_tags: ['x'], fixed_tags: null } })
    expect([changed.body.required_tags, changed.body.fixed_tags]).toEqual([['x'], undefined])
    for (const bad of [
      { required_tags: ['Team'] },
      { required_tags: Array.from({ length: 11 }, (_, index) => `n${index}`) },
      { fixed_tags: { team: 'a,b' } },
      { fixed_tags: { team: '' } },
      { fixed_tags: { team: '\u0000' } },
      { fixed_tags: { team: '\ud800' } },
      { fixed_tags: { 'team\n': 'a' } },
      { fixed_tags: { team: 5 } },
    ]) {
      expect([bad, (await gateway.request('PATCH', at, { body: bad })).status]).toEqual([bad, 400])
      expect([bad, (await createKey(bad)).status]).toEqual([bad, 400])
      const { status } = await gateway.request('POST', '/v1/organization/projects', {
        body: { name: 'x', ...bad },
      })
      expect([bad, status]).toEqual([bad, 400])
    }
  })

  test('does not let go of its tags: neither a key that it makes nor itself gets rid of them', async () => {
    const account = await createStranger(gateway)
    const { body: made } = await createKey({ required_tags: ['x'], fixed_tags: { team: 'a' } }, account)
    const child = await createKey({}, made.key)
    expect(child.body).toMatchObject({ required_tags: ['x'], fixed_tags: { team: 'a' } })
    for (const lifted of [{ fixed_tags: null }, { fixed_tags: { team: 'b' } }, { required_tags: null }]) {
      expect([lifted, (await createKey(lifted, made.key)).status]).toEqual([lifted, 403])
      const self = await gateway.request('PATCH', `${AT}/${made.id}`, { key: made.key, body: lifted })
      expect([lifted, self.status]).toEqual([lifted, 403])
    }
    const more = { fixed_tags: { team: 'a', x: 'y' }, required_tags: null }
    expect((await createKey(more, made.key)).status).toBe(201)
  })
})
