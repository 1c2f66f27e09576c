import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey } from './join-account.ts'

const CHAT = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }

let gateway: TestGateway
let project: string
let projectKey: string
/** Requests of a project: two of the team a, one of b, one without a team. */
let ids: string[]

async function ask(key: string, tags: string | null, body: object = CHAT) {
  const headers = tags === null ? undefined : { 'x-gateway-tags': tags }
  const answer = await gateway.request('POST', '/v1/chat/completions', {
    key,
    body,
    ...(headers && { headers }),
  })
  return answer.headers.get('x-request-id') ?? ''
}

beforeAll(async () => {
  gateway = await startTestGateway()
  project = await createProject(gateway)
  projectKey = await createProjectKey(gateway, project)
  ids = []
  for (const tags of ['team=a,x=y', 'team=a', 'team=b', null]) ids.push(await ask(projectKey, tags))
  await ask(gateway.key, 'team=a')
})
afterAll(() => gateway.close())

const read = async (path: string, key = projectKey) => {
  const { status, body } = await gateway.request('GET', path, { key })
  expect([status, body]).toEqual([200, body])
  return body
}

describe('usage', () => {
  test('is filtered by a tag, in totals, by hour and by request', async () => {
    for (const path of ['summary?', 'today?']) {
      expect((await read(`/v1/usage/${path}tag=team%3Da`)).requests).toBe(2)
      expect((await read(`/v1/usage/${path}tag=team%3Dnobody`)).requests).toBe(0)
    }
    const { records, total } = await read('/v1/usage/records?tag=team%3Da')
    expect([total, records.map(({ tags }: { tags: object }) => tags)]).toEqual([
      2,
      [{ team: 'a' }, { team: 'a', x: 'y' }],
    ])
    const all = await read('/v1/usage/records')
    expect(all.records.filter((record: object) => 'tags' in record)).toHaveLength(3)
  })

  test('is grouped by the values of a tag, with requests that have none', async () => {
    const counts = ({ data }: { data: { value: string; requests: number }[] }) =>
      Object.fromEntries(data.map(({ value, requests }) => [value, requests]))
    const spending = await read('/v1/usage/spending?by=tag:team')
    expect([spending.by, counts(spending)]).toEqual(['tag:team', { a: 2, b: 1, '': 1 }])
    expect(counts(await read('/v1/usage/spending?by=tag:x'))).toEqual({ y: 1, '': 3 })
    const { series, data } = await read('/v1/usage/timeseries?by=tag:team&granularity=day')
    const sum = (buckets: { requests: number }[]) =>
      buckets.reduce((total, { requests }) => total + requests, 0)
    expect(
      Object.fromEntries(series.map((one: { value: string; data: [] }) => [one.value, sum(one.data)])),
    ).toEqual({
      a: 2,
      b: 1,
      '': 1,
    })
    expect(sum(data)).toBe(4)
  })

  test('is that of a project for its keys, and of any project for keys of the account', async () => {
    for (const path of ['/v1/usage/summary', '/v1/usage/today']) expect((await read(path)).requests).toBe(4)
    expect((await read('/v1/usage/summary', gateway.key)).requests).toBe(5)
    expect((await read(`/v1/usage/summary?project_id=${project}`, gateway.key)).requests).toBe(4)
    expect((await read(`/v1/usage/summary?project_id=${project}&tag=team%3Da`, gateway.key)).requests).toBe(2)
    const other = await createProject(gateway, 'Other')
    expect((await read(`/v1/usage/summary?project_id=${other}`, gateway.key)).requests).toBe(0)
    const otherKey = await createProjectKey(gateway, other)
    expect((await read(`/v1/usage/summary?project_id=${project}`, otherKey)).requests).toBe(0)
    expect((await read('/v1/usage/records', otherKey)).records).toEqual([])
    expect((await read('/v1/usage/spending', otherKey)).data).toEqual([])
  })

  test.each([
    'summary?tag=team%3Da&provider=openai',
    'summary?tag=team',
    'timeseries?by=tag:team&env=dev',
    'timeseries?tag=team%3Da&by=provider',
    'spending?by=tag:',
    'spending?by=constructor',
    'records?project_id=nonsense',
    'latency?by=tag:team',
  ])('is not read with %s', async (query) => {
    const { status } = await gateway.request('GET', `/v1/usage/${query}`)
    expect(status).toBe(400)
  })
})

describe('the request log', () => {
  test('is filtered by a tag and shows tags, also those of failures', async () => {
    const failed = await ask(projectKey, 'team=a', { ...CHAT, model: 'no-such-model' })
    const idsOf = async (query: string, key?: string): Promise<string[]> =>
      (await read(`/v1/requests?${query}`, key)).data.map(
        ({ request_id }: { request_id: string }) => request_id,
      )
    expect(await idsOf('tag=team%3Da')).toEqual([failed, ids[1], ids[0]])
    expect(await idsOf('tag=team%3Da&outcome=completed')).toEqual([ids[1], ids[0]])
    expect(await idsOf('tag=team%3Dc')).toEqual([])
    expect((await read(`/v1/requests/${failed}`)).tags).toEqual({ team: 'a' })
    expect(await read(`/v1/requests/${ids[3]}`)).not.toHaveProperty('tags')
    expect(await idsOf(`tag=team%3Db&project_id=${project}`, gateway.key)).toEqual([ids[2]])
  })

  test('is that of the project for its keys', async () => {
    const otherKey = await createProjectKey(gateway, await createProject(gateway, 'Third'))
    expect((await read('/v1/requests', otherKey)).data).toEqual([])
    for (const path of ['', '/body']) {
      const { status } = await gateway.request('GET', `/v1/requests/${ids[0]}${path}`, { key: otherKey })
      expect([path, status]).toEqual([path, 404])
    }
    expect((await read('/v1/requests', gateway.key)).data.length).toBeGreaterThanOrEqual(5)
  })
})
