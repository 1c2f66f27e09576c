import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import { createKey, createStranger, failureOf, OWN_PAGE, signIn, type SignedIn } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, startOpenAiServer, stream, type OpenAiServer } from '../upstreams/openai-server.ts'
import { chat, enter } from './enter-project.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

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

type Ask = SignedIn['ask']

const current = async (ask: Ask) => (await ask('GET', '/v1/sessions/current')).body

const namesOf = (projects: readonly { name: string }[]) => projects.map(({ name }) => name)

/** A person who accepted an invitation, with a function that sends requests in their session. */
async function join(email: string, projects: { id: string; role: string }[], role = 'reader') {
  const person = await joinAccount(gateway, { email, role, projects })
  return { id: person.id, ask: (...call: Parameters<Ask>) => person.request(...call) }
}

describe('the session of a key of the account', () => {
  test('continues in a project, sees only that, and goes back', async () => {
    const projectId = await createProject(gateway, 'Search of the account')
    const { ask } = await signIn(gateway)
    expect(await current(ask)).toMatchObject({ project: null, user: null, can_see_account: true })

    const { status, body } = await enter(ask, projectId)
    expect([status, body.project_id, body.is_current]).toEqual([200, projectId, true])
    expect((await current(ask)).project).toEqual({ id: projectId, name: 'Search of the account' })
    const { body: account } = await ask('GET', '/v1/tenants/me')
    expect(account.session).toMatchObject({ project: { id: projectId }, user: null, has_projects: true })
    const { body: made } = await ask('POST', '/v1/conversations', {})
    const { body: project } = await ask('POST', `/v1/organization/projects/${projectId}`, { name: 'Renamed' })
    expect(project.name).toBe('Renamed')
    const elsewhere = await createProject(gateway, 'Another')
    expect(failureOf(await ask('GET', `/v1/organization/projects/${elsewhere}`))).toEqual([404, 'not_found'])
    expect(failureOf(await ask('GET', '/v1/organization/users'))).toEqual([403, 'forbidden'])

    expect((await enter(ask, null)).body.project_id).toBeNull()
    expect((await ask('GET', '/v1/organization/users')).status).toBe(200)
    const inOther = await signIn(gateway)
    await enter(inOther.ask, elsewhere)
    const path = `/v1/conversations/${made.id}`
    expect((await inOther.ask('GET', path)).status).toBe(404)
    await enter(inOther.ask, projectId)
    expect((await inOther.ask('GET', path)).status).toBe(200)
  })

  test('does not operate the gateway from a project', async () => {
    const { ask } = await signIn(gateway)
    expect((await ask('GET', '/v1/admin/accounts')).status).toBe(200)
    await enter(ask, await createProject(gateway))
    expect(failureOf(await ask('GET', '/v1/admin/accounts'))).toEqual([403, 'forbidden'])
  })

  test('names the project as the official clients do', async () => {
    const projectId = await createProject(gateway)
    const { ask, cookie } = await signIn(gateway)
    await enter(ask, projectId)
    const named = (id: string) =>
      gateway.request('GET', '/v1/tenants/me', {
        key: null,
        headers: { ...OWN_PAGE, cookie, 'openai-project': id },
      })
    expect((await named(projectId)).status).toBe(200)
    expect(failureOf(await named(await createProject(gateway)))).toEqual([401, 'mismatched_project'])
  })

  test('finds projects by a part of their names', async () => {
    await createProject(gateway, 'Needle in a haystack')
    const { ask } = await signIn(gateway)
    const search = async (text: string) =>
      namesOf((await ask('GET', `/v1/sessions/current?search=${encodeURIComponent(text)}`)).body.projects)
    expect(await search('nEEDLE')).toEqual(['Needle in a haystack'])
    expect(await search('%')).toEqual([])
    expect(namesOf((await current(ask)).projects)[0]).toBe('Default')
    expect((await ask('GET', '/v1/sessions/current?search=%00')).status).toBe(400)
  })

  test.each([
    ['of another account', async () => createProject(gateway, 'Theirs', await createStranger(gateway))],
    ['that is unknown', async () => 'proj_0123456789abcdef0123456789abcdef'],
    ['that is no id', async () => 'Default\u0000'],
    [
      'that is archived',
      async () => {
        const id = await createProject(gateway)
        await gateway.request('POST', `/v1/organization/projects/${id}/archive`)
        return id
      },
    ],
  ])('does not enter a project %s', async (_, create) => {
    const projectId = await create()
    const { ask } = await signIn(gateway)
    expect([404, 400]).toContain((await enter(ask, projectId)).status)
    expect((await current(ask)).project).toBeNull()
  })

  test('ends in every process when its project is archived or its key is revoked', async () => {
    for (const end of ['archive', 'revoke'] as const) {
      const projectId = await createProject(gateway)
      const { id, key } = await createKey(gateway)
      const { ask, cookie } = await signIn(gateway, key)
      await enter(ask, projectId)
      const reader = await openStream(cookie)
      if (end === 'archive') await gateway.request('POST', `/v1/organization/projects/${projectId}/archive`)
      else await gateway.request('DELETE', `/v1/tenants/me/api-keys/${id}`)
      expect(failureOf(await ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
      expect(await reader.until(/"error":/)).toContain('"code":"invalid_api_key"')
    }
  })
})

describe('the session of a key that cannot change its project', () => {
  test.each([
    ['a key of a project', async () => createProjectKey(gateway, await createProject(gateway, 'Its own'))],
    [
      'a service account',
      async () => {
        const at = `/v1/organization/projects/${await createProject(gateway, 'Its own')}/service_accounts`
        return (await gateway.request('POST', at, { body: { name: 'CI' } })).body.api_key.value
      },
    ],
  ])('%s stays in its project', async (_, create) => {
    const { ask } = await signIn(gateway, await create())
    const { projects, project, can_see_account: canSeeAccount } = await current(ask)
    expect([namesOf(projects), canSeeAccount]).toEqual([['Its own'], false])
    const elsewhere = await createProject(gateway)
    expect(failureOf(await enter(ask, elsewhere))).toEqual([404, 'not_found'])
    expect((await enter(ask, project.id)).body.project_id).toBeNull()
    expect((await current(ask)).project).toEqual(project)
  })

  test('a key that a restricted key made stays where it is', async () => {
    const { key } = await createKey(gateway, { limit_usd: 1 })
    const { body: child } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      key,
      body: { name: 'child', limit_usd: 0.5 },
    })
    const { ask } = await signIn(gateway, child.key)
    expect(failureOf(await enter(ask, await createProject(gateway)))).toEqual([404, 'not_found'])
  })

  test('a request with a key has no session to change', async () => {
    const body = { project_id: null }
    expect(failureOf(await gateway.request('POST', '/v1/sessions/project', { body }))[0]).toBe(400)
    expect(failureOf(await gateway.request('GET', '/v1/sessions/current'))[0]).toBe(400)
  })
})

describe('the session of a person', () => {
  test('continues in the projects that they were added to, with their role there, and in no other', async () => {
    const [owned, joined, foreign] = [
      await createProject(gateway, 'Owned'),
      await createProject(gateway, 'Joined'),
      await createProject(gateway, 'Foreign'),
    ]
    const { ask } = await join('ada@example.com', [
      { id: owned, role: 'owner' },
      { id: joined, role: 'member' },
    ])
    const { projects, user, can_see_account: canSeeAccount } = await current(ask)
    expect([namesOf(projects), canSeeAccount]).toEqual([['Joined', 'Owned'], false])
    expect(user).toMatchObject({ email: 'ada@example.com', role: 'reader', name: 'Grace' })
    const usersOf = (id: string) => ask('GET', `/v1/organization/projects/${id}/users`)
    expect((await usersOf(owned)).status).toBe(200)
    expect((await enter(ask, joined)).status).toBe(200)
    expect((await usersOf(owned)).status).not.toBe(200)
    const invite = { email: 'alan@example.com', role: 'member' }
    const added = await ask('POST', `/v1/organization/projects/${joined}/users`, invite)
    expect(failureOf(added)).toEqual([403, 'forbidden'])
    const { permissions } = (await ask('GET', '/v1/tenants/me/permissions')).body
    expect(permissions).toContain('models.use')
    expect(permissions).not.toContain('members.manage')
    expect(failureOf(await enter(ask, foreign))).toEqual([404, 'not_found'])
    expect((await current(ask)).project.id).toBe(joined)
  })

  test('ends when they leave the project that it continues in, and does not come back with them', async () => {
    const [first, second] = [await createProject(gateway), await createProject(gateway)]
    const { id, ask } = await join('bob@example.com', [
      { id: first, role: 'member' },
      { id: second, role: 'member' },
    ])
    await enter(ask, second)
    const path = `/v1/organization/projects/${second}/users`
    await gateway.request('DELETE', `${path}/${id}`)
    expect(failureOf(await ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
    await gateway.request('POST', path, { body: { user_id: id, role: 'member' } })
    expect(failureOf(await ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
  })

  test('ends when they are removed from the account or deactivated', async () => {
    for (const [method, path] of [
      ['DELETE', (id: string) => `/v1/organization/users/${id}`],
      ['POST', (id: string) => `/v1/admin/users/${id}/deactivate`],
    ] as const) {
      const [first, second] = [await createProject(gateway), await createProject(gateway)]
      const { id, ask } = await join(`${method.toLowerCase()}@example.com`, [
        { id: first, role: 'member' },
        { id: second, role: 'member' },
      ])
      await enter(ask, second)
      expect((await gateway.request(method, path(id))).status).toBe(200)
      expect(failureOf(await ask('GET', '/v1/tenants/me'))).toEqual([401, 'invalid_session'])
    }
  })

  test('enters every project if they own the account, and shows the whole account', async () => {
    const projectId = await createProject(gateway)
    const { ask } = await join('owner@example.com', [], 'owner')
    expect((await current(ask)).can_see_account).toBe(true)
    await enter(ask, projectId)
    expect((await ask('GET', `/v1/organization/projects/${projectId}/users`)).status).toBe(200)
    const { body } = await ask('POST', '/v1/tenants/me/api-keys', { name: 'of the project' })
    const { body: made } = await gateway.request(
      'GET',
      `/v1/organization/projects/${projectId}/api_keys/${body.id}`,
    )
    expect(made.owner.user.email).toBe('owner@example.com')
  })
})

test('whoever manages a project neither sees nor ends the sessions of the account that are in it', async () => {
  const projectId = await createProject(gateway)
  const { ask, id } = await signIn(gateway)
  await enter(ask, projectId)
  const manager = await signIn(gateway, await createProjectKey(gateway, projectId))
  const { body } = await manager.ask('GET', '/v1/sessions')
  expect(body.data.map((session: { id: string }) => session.id)).toEqual([manager.id])
  expect((await manager.ask('DELETE', `/v1/sessions/${id}`)).status).toBe(404)
  const { body: own } = await ask('GET', '/v1/sessions')
  expect(own.data.map((session: { id: string }) => session.id)).toContain(id)
  expect((await ask('DELETE', '/v1/sessions/current')).status).toBe(200)
})

test('the hidden keys of sessions are in no list', async () => {
  const projectId = await createProject(gateway)
  const { ask } = await signIn(gateway)
  await enter(ask, projectId)
  const { body: account } = await ask('GET', '/v1/tenants/me')
  const paths = ['/v1/tenants/me/api-keys?limit=100', `/v1/organization/projects/${projectId}/api_keys`]
  for (const path of paths) {
    const { body } = await gateway.request('GET', path)
    expect(body.data.map((key: { id: string }) => key.id)).not.toContain(account.key.id)
  }
  expect((await gateway.request('GET', `/v1/tenants/me/api-keys/${account.key.id}`)).status).toBe(404)
})

/** Opens a stream in this session on the other process. It has started and does not end by itself. */
async function openStream(cookie: string) {
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const response = await other.fetch('POST', '/v1/chat/completions', {
    key: null,
    headers: { ...OWN_PAGE, cookie },
    body: { ...chat('gpt-4o-mini', 500), stream: true },
    signal: leave.signal,
  })
  const reader = readPieces(response)
  await reader.until(/there/)
  return reader
}
