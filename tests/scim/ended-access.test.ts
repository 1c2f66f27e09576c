import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import { refresh, signInTool } from '../grants/sign-in-tool.ts'
import { chatStatus, createProject, joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, startOpenAiServer, stream, type OpenAiServer } from '../upstreams/openai-server.ts'
import { connectDirectory, createPerson, type ScimClient } from './scim-client.ts'

let upstream: OpenAiServer
let gateway: TestGateway
let other: TestGateway
let directory: ScimClient
const leave = new AbortController()

beforeAll(async () => {
  // Sends two words, then nothing more.
  upstream = await startOpenAiServer(stream(chunksOf('Hello', ' there').slice(0, 3), { ending: 'hang' }))
  const settings = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: upstream.apiUrl }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
  directory = await connectDirectory(gateway)
  // What the first stream that ends early loads, to count its tokens, is not measured.
  const { key, scimId } = await joinThenManage()
  const reader = await openStream(key)
  await directory.request('DELETE', `/Users/${scimId}`)
  await reader.until(/"error":/)
})
afterAll(async () => {
  leave.abort()
  await other.close()
  await gateway.close()
  await upstream.close()
})

let count = 0

/** A member with a key and a session, whom the directory then takes over. */
async function joinThenManage(role = 'reader') {
  count += 1
  const email = `managed-${count}@example.com`
  const project = await createProject(gateway)
  const person = await joinAccount(gateway, { email, role, projects: [{ id: project, role: 'owner' }] })
  const { body } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
  const managed = await createPerson(directory, {
    userName: email,
    emails: [{ value: email, primary: true }],
  })
  return { person, project, key: String(body.key), scimId: String(managed.id) }
}

async function openStream(key: string) {
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

test.each([
  [
    'active: false',
    (id: string) =>
      directory.request('PATCH', `/Users/${id}`, {
        Operations: [{ op: 'replace', path: 'active', value: false }],
      }),
  ],
  ['DELETE', (id: string) => directory.request('DELETE', `/Users/${id}`)],
])('%s ends keys, sessions and running streams in another process within a second', async (_, end) => {
  const { person, key, scimId } = await joinThenManage()
  expect(
    (await other.request('GET', '/v1/sessions/current', { key: null, headers: person.headers })).status,
  ).toBe(200)
  const reader = await openStream(key)
  expect((await end(scimId)).status).toBeLessThan(300)
  const endedAt = performance.now()
  expect(await chatStatus(other, key)).toBe(401)
  expect(await reader.until(/"error":/)).toContain('"code":"invalid_api_key"')
  expect(performance.now() - endedAt).toBeLessThan(1000)
  expect(
    (await other.request('GET', '/v1/sessions/current', { key: null, headers: person.headers })).status,
  ).toBe(401)
})

test('active: false ends the signed-in tools of the person, with their running streams, in another process within a second', async () => {
  const { person, project, scimId } = await joinThenManage()
  const { accessToken, refreshToken } = await signInTool(gateway, person, project)
  const reader = await openStream(accessToken)
  await directory.request('PATCH', `/Users/${scimId}`, {
    Operations: [{ op: 'Replace', path: 'active', value: 'False' }],
  })
  const endedAt = performance.now()
  expect(await chatStatus(other, accessToken)).toBe(401)
  expect(await reader.until(/"error":/)).toContain('"code":"invalid_api_key"')
  expect(performance.now() - endedAt).toBeLessThan(1000)
  const refused = await refresh(other, refreshToken)
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_grant'])
})

test('active: true lets keys work again; sessions do not come back', async () => {
  const { person, key, scimId } = await joinThenManage()
  const set = (active: boolean) =>
    directory.request('PATCH', `/Users/${scimId}`, { Operations: [{ op: 'replace', value: { active } }] })
  await set(false)
  expect((await other.request('GET', '/v1/models', { key })).status).toBe(401)
  await set(true)
  expect((await other.request('GET', '/v1/models', { key })).status).toBe(200)
  expect(
    (await other.request('GET', '/v1/sessions/current', { key: null, headers: person.headers })).status,
  ).toBe(401)
})

test('a directory may deactivate the last owner: keys of the account still work, and nobody takes away the next owner', async () => {
  const { person, scimId } = await joinThenManage('owner')
  await directory.request('PATCH', `/Users/${scimId}`, {
    Operations: [{ op: 'replace', path: 'active', value: 'False' }],
  })
  const state = await gateway.request('GET', '/v1/organization/scim')
  expect([state.status, state.body.has_owner]).toEqual([200, false])
  const given = await gateway.request('POST', `/v1/organization/users/${person.id}`, {
    body: { role: 'reader' },
  })
  expect(given.status).toBe(200)
})

test('a deleted token is refused at once by every process, and an expired one too', async () => {
  const made = await gateway.request('POST', '/v1/organization/scim_tokens', { body: { name: 'Entra' } })
  const ask = (to: TestGateway) => to.request('GET', '/scim/v2/Users', { key: made.body.value })
  expect([(await ask(gateway)).status, (await ask(other)).status]).toEqual([200, 200])
  await gateway.request('DELETE', `/v1/organization/scim_tokens/${made.body.id}`)
  expect([(await ask(gateway)).status, (await ask(other)).status]).toEqual([401, 401])
})
