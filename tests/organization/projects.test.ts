import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatStatus, createProject, createProjectKey } from './join-account.ts'

let gateway: TestGateway
let stranger: string

beforeAll(async () => {
  gateway = await startTestGateway()
  stranger = await createStranger(gateway)
})
afterAll(() => gateway.close())

const AT = '/v1/organization/projects'

describe('a project', () => {
  test('is created, read and renamed in the form of the Administration API', async () => {
    const { status, body } = await gateway.request('POST', AT, { body: { name: 'Search' } })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^proj_[0-9a-f]{32}$/),
      object: 'organization.project',
      name: 'Search',
      created_at: expect.any(Number),
      archived_at: null,
      status: 'active',
      external_key_id: null,
      residency: 'GLOBAL',
    })
    expect((await gateway.request('GET', `${AT}/${body.id}`)).body).toEqual(body)
    const renamed = await gateway.request('POST', `${AT}/${body.id}`, { body: { name: 'Browse' } })
    expect(renamed.body).toEqual({ ...body, name: 'Browse' })
    const unchanged = await gateway.request('POST', `${AT}/${body.id}`, { body: {} })
    expect(unchanged.body).toEqual(renamed.body)
  })

  test.each([
    ['an empty name', { name: '' }, 400],
    ['a name that is too long', { name: 'x'.repeat(201) }, 400],
    ['no name', {}, 400],
    ['a place for its data', { name: 'x', residency: 'EU_STORAGE_PROCESSING' }, 400],
    ['an external key', { name: 'x', external_key_id: 'key_1' }, 400],
    ['an unknown member', { name: 'x', budget: 5 }, 400],
  ])('cannot have %s', async (_, body, status) => {
    expect((await gateway.request('POST', AT, { body })).status).toBe(status)
  })

  test('can have the longest name, and the residency of everything here', async () => {
    const body = { name: 'ü'.repeat(200), residency: 'GLOBAL', external_key_id: null }
    expect((await gateway.request('POST', AT, { body })).body.name).toBe(body.name)
  })

  test('is 404 for another account on every route, and unchanged', async () => {
    const id = await createProject(gateway)
    const before = await gateway.request('GET', `${AT}/${id}`)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { name: 'Yours' }],
      ['POST', '/archive', undefined],
      ['GET', '/users', undefined],
      ['GET', '/api_keys', undefined],
      ['GET', '/service_accounts', undefined],
      ['POST', '/service_accounts', { name: 'Yours' }],
    ] as const) {
      const given = { key: stranger, ...(body === undefined ? {} : { body }) }
      const answer = await gateway.request(method, `${AT}/${id}${path}`, given)
      expect([method, path, answer.status]).toEqual([method, path, 404])
    }
    expect((await gateway.request('GET', `${AT}/${id}`)).body).toEqual(before.body)
    expect((await gateway.request('GET', `${AT}/proj_nonsense`)).status).toBe(404)
  })
})

test('projects are listed in pages, newest first, archived ones only if asked for', async () => {
  const key = await createStranger(gateway)
  const ids = [await createProject(gateway, 'A', key), await createProject(gateway, 'B', key)].toReversed()
  await gateway.request('POST', `${AT}/${ids[0]}/archive`, { key })
  const shown: string[] = []
  let after = ''
  for (;;) {
    const { body } = await gateway.request('GET', `${AT}?limit=1&include_archived=true${after}`, { key })
    expect([body.object, body.first_id, body.last_id]).toEqual(['list', body.data[0].id, body.data[0].id])
    shown.push(body.data[0].id)
    if (!body.has_more) break
    after = `&after=${body.last_id}`
  }
  expect(shown).toHaveLength(3)
  expect(shown.slice(0, 2)).toEqual(ids)
  const { body: active } = await gateway.request('GET', AT, { key })
  expect(active.data.map(({ name }: { name: string }) => name)).toEqual(['A', 'Default'])
  expect((await gateway.request('GET', `${AT}?after=wrong`, { key })).status).toBe(400)
  expect((await gateway.request('GET', `${AT}?limit=0`, { key })).status).toBe(400)
})

describe('archiving', () => {
  test('ends the keys of the project, once and for good', async () => {
    const id = await createProject(gateway)
    const key = await createProjectKey(gateway, id)
    expect(await chatStatus(gateway, key)).toBe(200)
    const archived = await gateway.request('POST', `${AT}/${id}/archive`)
    expect([archived.status, archived.body.status]).toEqual([200, 'archived'])
    expect(await chatStatus(gateway, key)).toBe(401)
    expect((await gateway.request('POST', `${AT}/${id}/archive`)).body).toEqual(archived.body)
    const order = { name: 'x', project_id: id }
    expect((await gateway.request('POST', '/v1/tenants/me/api-keys', { body: order })).status).toBe(409)
    expect((await gateway.request('POST', `${AT}/${id}`, { body: { name: 'x' } })).status).toBe(409)
    const listed = await gateway.request('GET', `${AT}/${id}/api_keys?owner_project_access=inactive`)
    expect(listed.body.data[0].owner_project_access).toBe('inactive')
  })

  test('is not possible for Default', async () => {
    const { body } = await gateway.request('GET', `${AT}?limit=100`)
    const { id } = body.data.at(-1)
    expect((await gateway.request('POST', `${AT}/${id}/archive`)).status).toBe(409)
  })
})

describe('a key of a project', () => {
  test('reaches its own project and no other, and nothing of the whole account', async () => {
    const [own, other] = [await createProject(gateway, 'Own'), await createProject(gateway, 'Other')]
    const key = await createProjectKey(gateway, own)
    for (const path of ['', '/users', '/service_accounts', '/api_keys']) {
      expect((await gateway.request('GET', `${AT}/${own}${path}`, { key })).status).toBe(200)
      expect((await gateway.request('GET', `${AT}/${other}${path}`, { key })).status).toBe(404)
    }
    for (const path of ['/v1/organization/projects', '/v1/organization/users', '/v1/organization/invites'])
      expect((await gateway.request('GET', path, { key })).status).toBe(403)
    const created = await gateway.request('POST', AT, { key, body: { name: 'x' } })
    const invited = await gateway.request('POST', '/v1/organization/invites', {
      key,
      body: { email: 'eve@example.com', role: 'owner' },
    })
    expect([created.status, invited.status]).toEqual([403, 403])
  })

  test('makes and sees only keys of its project', async () => {
    const [own, other] = [await createProject(gateway, 'Own'), await createProject(gateway, 'Other')]
    const key = await createProjectKey(gateway, own)
    const made = await gateway.request('POST', '/v1/tenants/me/api-keys', { key, body: { name: 'mine' } })
    expect([made.status, made.body.project_id]).toEqual([201, own])
    const order = { name: 'yours', project_id: other }
    expect((await gateway.request('POST', '/v1/tenants/me/api-keys', { key, body: order })).status).toBe(404)
    const account = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'account' } })
    expect(account.body).not.toHaveProperty('project_id')
    for (const method of ['GET', 'DELETE'] as const) {
      const at = `/v1/tenants/me/api-keys/${account.body.id}`
      expect((await gateway.request(method, at, { key })).status).toBe(404)
    }
    const listed = await gateway.request('GET', '/v1/tenants/me/api-keys', { key })
    expect(listed.body.total).toBe(2)
    expect(new Set(listed.body.data.map((one: { project_id: string }) => one.project_id))).toEqual(
      new Set([own]),
    )
  })

  test('cannot operate the gateway', async () => {
    const own = await createProject(gateway)
    const body = { name: 'x', project_id: own, scopes: ['admin'] }
    const { status } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body })
    expect(status).toBe(400)
  })

  test('a key of another account cannot be placed in this project', async () => {
    const body = { name: 'x', project_id: await createProject(gateway) }
    const { status } = await gateway.request('POST', '/v1/tenants/me/api-keys', { key: stranger, body })
    expect(status).toBe(404)
  })
})

describe('a service account', () => {
  test('has a key of its own, more keys, a role, and ends with all of them', async () => {
    const at = `${AT}/${await createProject(gateway)}/service_accounts`
    const { body } = await gateway.request('POST', at, { body: { name: 'Pipeline' } })
    expect(body).toMatchObject({
      object: 'organization.project.service_account',
      id: expect.stringMatching(/^svc_acct_[0-9a-f]{32}$/),
      name: 'Pipeline',
      role: 'member',
      api_key: { object: 'organization.project.service_account.api_key', name: 'Pipeline' },
    })
    const key = body.api_key.value
    expect(await chatStatus(gateway, key)).toBe(200)
    expect((await gateway.request('GET', at, { key })).status).toBe(403)
    const more = await gateway.request('POST', `${at}/${body.id}/api_keys`, {
      body: { name: 'Second', scopes: ['inference', 'manage'] },
    })
    const second = more.body.value
    // The role bounds the scopes of the key.
    const made = await gateway.request('POST', at, { key: second, body: { name: 'Another' } })
    expect([made.status, (await gateway.request('GET', at, { key: second })).status]).toEqual([403, 200])
    const changed = await gateway.request('POST', `${at}/${body.id}`, { body: { name: 'CI', role: 'owner' } })
    expect([changed.body.name, changed.body.role]).toEqual(['CI', 'owner'])
    expect((await gateway.request('GET', at, { key: second })).status).toBe(200)
    const passedOn = await gateway.request('POST', '/v1/tenants/me/api-keys', { key: second, body: {} })
    expect(passedOn.body.service_account_id).toBe(body.id)
    const deleted = await gateway.request('DELETE', `${at}/${body.id}`)
    expect(deleted.body).toEqual({
      object: 'organization.project.service_account.deleted',
      id: body.id,
      deleted: true,
    })
    for (const ended of [key, second, passedOn.body.key]) expect(await chatStatus(gateway, ended)).toBe(401)
    expect((await gateway.request('GET', `${at}/${body.id}`)).status).toBe(404)
    expect((await gateway.request('GET', at)).body).toMatchObject({ data: [], first_id: null, last_id: null })
  })

  test('can be made without a key', async () => {
    const at = `${AT}/${await createProject(gateway)}/service_accounts`
    const order = { name: 'Pipeline', create_service_account_only: true }
    expect((await gateway.request('POST', at, { body: order })).body.api_key).toBeNull()
  })

  test('is not made by a key that cannot give what its key needs', async () => {
    const { body: manager } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'manager', scopes: ['manage'] },
    })
    const at = `${AT}/${await createProject(gateway)}/service_accounts`
    const refused = await gateway.request('POST', at, { key: manager.key, body: { name: 'Pipeline' } })
    expect(refused.status).toBe(403)
    expect((await gateway.request('GET', at)).body.data).toEqual([])
  })
})

test('keys of a project are listed with their owners, read and deleted', async () => {
  const project = await createProject(gateway)
  const at = `${AT}/${project}/api_keys`
  const key = await createProjectKey(gateway, project)
  const service = await gateway.request('POST', `${AT}/${project}/service_accounts`, { body: { name: 'CI' } })
  const { body } = await gateway.request('GET', at)
  expect(body.data).toHaveLength(2)
  expect(body.data[0]).toMatchObject({
    object: 'organization.project.api_key',
    id: service.body.api_key.id,
    owner_project_access: 'active',
    owner: { type: 'service_account', service_account: { id: service.body.id, role: 'member' } },
  })
  expect(body.data[1].owner).toEqual({})
  expect(JSON.stringify(body)).not.toContain(key)
  const one = `${at}/${body.data[1].id}`
  expect((await gateway.request('GET', one)).body).toEqual(body.data[1])
  expect((await gateway.request('DELETE', one)).body).toMatchObject({ deleted: true, id: body.data[1].id })
  expect(await chatStatus(gateway, key)).toBe(401)
  expect((await gateway.request('GET', one)).status).toBe(404)
})

describe('the headers OpenAI-Organization and OpenAI-Project', () => {
  test('must name the account and the project of the key', async () => {
    const { body: tenant } = await gateway.request('GET', '/v1/tenants/me')
    const digits = tenant.id.replaceAll('-', '')
    const project = await createProject(gateway)
    const key = await createProjectKey(gateway, project)
    const ask = async (given: string, headers: Record<string, string>) => {
      const options = { key: given, headers }
      const { status, body } = await gateway.request('GET', '/v1/models', options)
      return status === 200 ? 200 : body.error.code
    }
    const organization = { 'OpenAI-Organization': `org-${digits}` }
    expect(await ask(gateway.key, organization)).toBe(200)
    expect(await ask(gateway.key, { ...organization, 'OpenAI-Project': `proj_${digits}` })).toBe(200)
    expect(await ask(gateway.key, { 'OpenAI-Organization': tenant.id, 'OpenAI-Project': '' })).toBe(200)
    expect(await ask(key, { ...organization, 'OpenAI-Project': project })).toBe(200)
    expect(await ask(key, { 'OpenAI-Project': `proj_${digits}` })).toBe('mismatched_project')
    expect(await ask(gateway.key, { 'OpenAI-Project': project })).toBe('mismatched_project')
    expect(await ask(gateway.key, { 'OpenAI-Organization': 'org-other' })).toBe('mismatched_organization')
    expect(await ask(stranger, organization)).toBe('mismatched_organization')
  })

  test('are refused on the chat route too, in the words of OpenAI', async () => {
    const { status, body } = await gateway.request('POST', '/v1/chat/completions', {
      headers: { 'OpenAI-Project': 'proj_other' },
      body: { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect(status).toBe(401)
    expect(body.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'mismatched_project',
      message: 'OpenAI-Project header should match project for API key',
    })
  })
})
