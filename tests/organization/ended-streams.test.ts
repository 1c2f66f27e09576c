import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, startOpenAiServer, stream, type OpenAiServer } from '../upstreams/openai-server.ts'
import { chatStatus, createProject, createProjectKey, joinAccount } from './join-account.ts'

let upstream: OpenAiServer
let gateway: TestGateway
let other: TestGateway

beforeAll(async () => {
  // Sends two words, then nothing more.
  upstream = await startOpenAiServer(stream(chunksOf('Hello', ' there').slice(0, 3), { ending: 'hang' }))
  const settings = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: upstream.apiUrl }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
})

afterAll(async () => {
  await other.close()
  await gateway.close()
  await upstream.close()
})

/** Opens a stream with this key on the other process. It has started and does not end by itself. */
async function openStream(key: string) {
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const response = await other.fetch('POST', '/v1/chat/completions', {
    key,
    body: {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      max_tokens: 500,
    },
    signal: leave.signal,
  })
  const reader = readPieces(response)
  await reader.until(/there/)
  return reader
}

async function createPerson(role: string, projectId: string) {
  const email = `${projectId.slice(-12)}-${role}@example.com`
  const projects = [{ id: projectId, role: 'owner' }]
  const person = await joinAccount(gateway, { email, role, projects })
  const { body } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
  return { id: person.id, key: String(body.key) }
}

describe('a running stream in another process ends, and its key is refused there', () => {
  test.each([
    [
      'when its person is removed from the account',
      async (_: string, userId: string) => gateway.request('DELETE', `/v1/organization/users/${userId}`),
    ],
    [
      'when its person is removed from the project',
      async (projectId: string, userId: string) =>
        gateway.request('DELETE', `/v1/organization/projects/${projectId}/users/${userId}`),
    ],
    [
      'when its person is deactivated',
      async (_: string, userId: string) => gateway.request('POST', `/v1/admin/users/${userId}/deactivate`),
    ],
    [
      'when its project is archived',
      async (projectId: string) => gateway.request('POST', `/v1/organization/projects/${projectId}/archive`),
    ],
  ])('%s', async (_, end) => {
    const projectId = await createProject(gateway)
    const { id, key } = await createPerson('reader', projectId)
    const reader = await openStream(key)
    expect((await end(projectId, id)).status).toBe(200)
    expect(await chatStatus(other, key)).toBe(401)
    expect(await reader.until(/"error":/)).toContain('"code":"invalid_api_key"')
  })

  test('when its service account is deleted', async () => {
    const at = `/v1/organization/projects/${await createProject(gateway)}/service_accounts`
    const { body } = await gateway.request('POST', at, { body: { name: 'CI' } })
    const reader = await openStream(body.api_key.value)
    expect((await gateway.request('DELETE', `${at}/${body.id}`)).status).toBe(200)
    expect(await chatStatus(other, body.api_key.value)).toBe(401)
    expect(await reader.until(/"error":/)).toContain('"code":"invalid_api_key"')
  })
})

describe('a running stream in another process ends, and its key may no longer use models there', () => {
  test.each([
    [
      'when the role of its person in the project no longer allows it',
      async (projectId: string, userId: string) =>
        gateway.request('POST', `/v1/organization/projects/${projectId}/users/${userId}`, {
          body: { role: 'viewer' },
        }),
    ],
    [
      'when its person leaves the group that gave the role',
      async (_: string, userId: string, groupId: string) =>
        gateway.request('DELETE', `/v1/organization/groups/${groupId}/users/${userId}`),
    ],
    [
      'when the group that gave the role is removed from the project',
      async (projectId: string, _: string, groupId: string) =>
        gateway.request('DELETE', `/v1/organization/projects/${projectId}/groups/${groupId}`),
    ],
  ])('%s', async (name, end) => {
    const projectId = await createProject(gateway)
    const { id, key } = await createPerson('reader', projectId)
    const isOfGroup = name.includes('group')
    const group = await gateway.request('POST', '/v1/organization/groups', { body: { name: projectId } })
    const groupId = String(group.body.id)
    if (isOfGroup) {
      await gateway.request('POST', `/v1/organization/groups/${groupId}/users`, { body: { user_id: id } })
      await gateway.request('POST', `/v1/organization/projects/${projectId}/groups`, {
        body: { group_id: groupId, role: 'member' },
      })
      await gateway.request('POST', `/v1/organization/projects/${projectId}/users/${id}`, {
        body: { role: 'viewer' },
      })
    }
    const reader = await openStream(key)
    expect((await end(projectId, id, groupId)).status).toBe(200)
    const endedAt = performance.now()
    expect(await chatStatus(other, key)).toBe(403)
    expect(await reader.until(/"error":/)).toContain('"code":"forbidden"')
    expect(performance.now() - endedAt).toBeLessThan(1000)
  })

  test('when the scope `inference` is taken from its key', async () => {
    const projectId = await createProject(gateway)
    const key = await createProjectKey(gateway, projectId)
    const { body } = await gateway.request('GET', `/v1/organization/projects/${projectId}/api_keys`)
    const reader = await openStream(key)
    const at = `/v1/tenants/me/api-keys/${body.data[0].id}`
    expect((await gateway.request('PATCH', at, { body: { scopes: ['manage'] } })).status).toBe(200)
    expect(await chatStatus(other, key)).toBe(403)
    expect(await reader.until(/"error":/)).toContain('"code":"forbidden"')
  })
})

test('a stream goes on when its person loses something else than the right to use models', async () => {
  const projectId = await createProject(gateway)
  const { id, key } = await createPerson('reader', projectId)
  const reader = await openStream(key)
  let hasEnded = false
  const note = () => {
    hasEnded = true
  }
  reader.until(/"error":/).then(note, note)
  const at = `/v1/organization/projects/${projectId}/users/${id}`
  expect((await gateway.request('POST', at, { body: { role: 'member' } })).status).toBe(200)
  // Another stream ends by the same reading of keys, so this one would have ended before.
  const ended = await createPerson('reader', await createProject(gateway))
  const otherReader = await openStream(ended.key)
  await gateway.request('DELETE', `/v1/organization/users/${ended.id}`)
  await otherReader.until(/"error":/)
  expect(hasEnded).toBe(false)
})

test('a stream of another project goes on when a project is archived', async () => {
  const [ended, kept] = [await createProject(gateway), await createProject(gateway)]
  const key = await createProjectKey(gateway, kept)
  await openStream(key)
  await gateway.request('POST', `/v1/organization/projects/${ended}/archive`)
  const { status, body } = await other.request('GET', '/v1/tenants/me', { key })
  expect([status, body.object]).toEqual([200, body.object])
})
