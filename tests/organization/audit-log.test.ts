import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

let gateway: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startTestGateway()
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const AT = '/v1/organization/audit_logs'

async function read(query = '', key = gateway.key) {
  const { status, body } = await gateway.request('GET', `${AT}${query}`, { key })
  expect([status, body]).toEqual([200, body])
  return body
}

async function idsOf(query: string, key: string): Promise<string[]> {
  const { data } = await read(query, key)
  return data.map(({ id }: { id: string }) => id)
}

describe('an entry', () => {
  test('an entry of a change with a key tells the key, the project and what was asked for', async () => {
    const id = await createProject(gateway, 'Search')
    const { data } = await read('?limit=1')
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^audit_log-[0-9a-f]{32}$/),
        object: 'organization.audit_log',
        type: 'project.created',
        effective_at: expect.any(Number),
        project: { id, name: 'Search' },
        actor: { type: 'api_key', api_key: { id: expect.any(String) } },
        ip_address: '127.0.0.1',
        user_agent: expect.any(String),
        'project.created': { id, data: { name: 'Search', title: 'Search' } },
      },
    ])
    expect(Math.abs(data[0].effective_at - Date.now() / 1000)).toBeLessThan(60)
  })

  test('an entry of a change in a session tells the person with the e-mail address', async () => {
    const person = await joinAccount(gateway, { email: 'actor@example.com', role: 'owner' })
    const { body: project } = await person.request('POST', '/v1/organization/projects', { name: 'Theirs' })
    const { data } = await read(`?resource_ids[]=${project.id}`)
    expect(data[0].actor).toEqual({
      type: 'session',
      session: {
        id: expect.any(String),
        user: { id: person.id, email: 'actor@example.com' },
        ip_address: '127.0.0.1',
        user_agent: expect.any(String),
      },
    })
    const { body: key } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
    const renamed = { key: key.key, body: { name: 'Renamed' } }
    await gateway.request('POST', `/v1/organization/projects/${project.id}`, renamed)
    const later = await read(`?resource_ids[]=${project.id}&event_types[]=project.updated`)
    expect(later.data[0].actor).toEqual({
      type: 'api_key',
      api_key: { id: key.id, type: 'user', user: { id: person.id, email: 'actor@example.com' } },
    })
  })

  test('an entry of a change by a service account tells the service account', async () => {
    const at = `/v1/organization/projects/${await createProject(gateway)}`
    const { body } = await gateway.request('POST', `${at}/service_accounts`, { body: { name: 'CI' } })
    await gateway.request('POST', `${at}/service_accounts/${body.id}`, { body: { role: 'owner' } })
    const { body: made } = await gateway.request('POST', `${at}/service_accounts/${body.id}/api_keys`, {
      body: { scopes: ['manage'] },
    })
    await gateway.request('POST', at, { key: made.value, body: { name: 'By CI' } })
    const { data } = await read(`?actor_ids[]=${body.id}`)
    expect(data).toMatchObject([
      {
        type: 'project.updated',
        actor: {
          type: 'api_key',
          api_key: { id: made.id, type: 'service_account', service_account: { id: body.id } },
        },
      },
    ])
  })

  test('an entry of an invitation and its acceptance tells who was invited and who came', async () => {
    const project = await createProject(gateway)
    const projects = [{ id: project, role: 'member' }]
    const { id, email } = await joinAccount(gateway, { email: 'came@example.com', projects })
    const { data } = await read(`?actor_emails[]=CAME@example.com`)
    const types = data.map(({ type, project: at }: { type: string; project?: { id: string } }) => [
      type,
      at?.id ?? null,
    ])
    expect(types).toEqual([
      ['user.added', project],
      ['user.added', null],
      ['invite.accepted', null],
      ['login.succeeded', project],
    ])
    expect(data[1]).toMatchObject({
      'user.added': { id, data: { role: 'reader' } },
      actor: { type: 'session', session: { user: { id, email } } },
    })
  })

  test('has no secret', async () => {
    const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'secret' } })
    const rows = await database.query('SELECT account_changes::text AS text FROM account_changes')
    expect(JSON.stringify(rows)).not.toContain(String(body.key).slice(-20))
  })

  test('an entry of what an operator did to an account does not tell who that is', async () => {
    const stranger = await createStranger(gateway)
    const person = await joinAccount(gateway, { email: 'shared@example.com', key: stranger })
    await gateway.request('POST', `/v1/admin/users/${person.id}/deactivate`)
    const { data } = await read('?limit=1', stranger)
    expect(data[0]).toMatchObject({
      type: 'user.updated',
      actor: { type: 'operator' },
      'user.updated': { id: person.id, changes_requested: { status: 'deactivated' } },
    })
  })

  test('cannot be changed or deleted in the database', async () => {
    await createProject(gateway)
    for (const sql of [`UPDATE account_changes SET type = 'x'`, 'DELETE FROM account_changes'])
      await expect(database.query(sql)).rejects.toThrow('never changed')
  })
})

test('a request that is refused or changes nothing has no entry', async () => {
  const key = await createStranger(gateway)
  const id = await createProject(gateway, 'Search', key)
  await gateway.request('POST', `/v1/organization/projects/${id}/archive`, { key })
  const before = await idsOf('', key)
  await gateway.request('POST', `/v1/organization/projects/${id}/archive`, { key })
  await gateway.request('POST', `/v1/organization/projects/${id}`, { key, body: { name: 'late' } })
  await gateway.request('POST', '/v1/organization/projects', { key, body: { name: '' } })
  expect(await idsOf('', key)).toEqual(before)
})

test('a change whose entry cannot be written does not happen', async () => {
  const key = await createStranger(gateway)
  await createProject(gateway, 'Before', key)
  const { data } = await read('?limit=1', key)
  await database.query(
    `ALTER TABLE account_changes ADD CONSTRAINT refuse CHECK (type <> 'project.created') NOT VALID`,
  )
  try {
    const answer = await gateway.request('POST', '/v1/organization/projects', {
      key,
      body: { name: 'After' },
    })
    expect(answer.status).toBeGreaterThanOrEqual(500)
  } finally {
    await database.query('ALTER TABLE account_changes DROP CONSTRAINT refuse')
  }
  const { body } = await gateway.request('GET', '/v1/organization/projects', { key })
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Before', 'Default'])
  expect((await read('?limit=1', key)).data).toEqual(data)
})

describe('the list', () => {
  let key: string
  let projects: string[]
  let all: string[]

  beforeAll(async () => {
    key = await createStranger(gateway)
    projects = []
    for (const name of ['A', 'B', 'C']) projects.push(await createProject(gateway, name, key))
    await gateway.request('POST', `/v1/organization/projects/${projects[0]}`, { key, body: { name: 'A2' } })
    all = await idsOf('', key)
  })

  test('has pages in both directions', async () => {
    // The fifth is the key of the account itself.
    expect(all).toHaveLength(5)
    const first = await read('?limit=2', key)
    expect([first.has_more, first.first_id, first.last_id]).toEqual([true, all[0], all[1]])
    expect(await idsOf(`?limit=2&after=${first.last_id}`, key)).toEqual(all.slice(2, 4))
    expect(await idsOf(`?limit=2&before=${all[4]}`, key)).toEqual(all.slice(2, 4))
    const back = await read(`?limit=2&before=${all[2]}`, key)
    expect([back.data.map(({ id }: { id: string }) => id), back.has_more]).toEqual([all.slice(0, 2), false])
    expect(await idsOf(`?after=${all[0]}&before=${all[4]}`, key)).toEqual(all.slice(1, 4))
    expect(await idsOf(`?after=${all[4]}`, key)).toEqual([])
  })

  test('is filtered by project, type, resource, actor and e-mail address', async () => {
    expect(await idsOf(`?project_ids[]=${projects[0]}`, key)).toEqual([all[0], all[3]])
    expect(await idsOf(`?project_ids=${projects[1]}&project_ids=${projects[2]}`, key)).toEqual(
      all.slice(1, 3),
    )
    expect(await idsOf('?event_types[]=project.updated', key)).toEqual([all[0]])
    expect(await idsOf('?event_types[]=project.created&event_types[]=user.added', key)).toEqual(
      all.slice(1, 4),
    )
    expect(await idsOf(`?resource_ids[]=${projects[2]}`, key)).toEqual([all[1]])
    const { data } = await read('?limit=1', key)
    expect(await idsOf(`?actor_ids[]=${data[0].actor.api_key.id}`, key)).toEqual(all.slice(0, 4))
    for (const none of [
      'project_ids[]=proj_x',
      'actor_ids[]=user-x',
      'actor_emails[]=nobody@example.com',
      'resource_ids[]=%25',
      'tenant_only=true',
    ])
      expect([none, await idsOf(`?${none}`, key)]).toEqual([none, []])
  })

  test('is filtered by whole seconds', async () => {
    const { data } = await read('?limit=1', key)
    const at = data[0].effective_at
    const count = async (query: string) => (await idsOf(`?${query}`, key)).length
    expect(await count(`effective_at[gt]=${at}`)).toBe(0)
    expect(await count(`effective_at[gte]=${at}`)).toBeGreaterThan(0)
    expect(await count(`effective_at[lte]=${at}`)).toBe(5)
    expect(await count(`effective_at[gte]=${at}&effective_at[lt]=${at}`)).toBe(0)
    expect(await count(`effective_at[lt]=${at + 1}&effective_at[gt]=0`)).toBe(5)
  })

  test.each([
    'event_types[]=unknown',
    'after=x',
    'before=x',
    'limit=0',
    'effective_at[gt]=-1',
    'effective_at[gt]=soon',
    'effective_at[lt]=99999999999999999',
    `project_ids[]=${'x'.repeat(321)}`,
    Array.from({ length: 101 }, () => 'resource_ids[]=x').join('&'),
    'resource_ids[]=%00',
  ])('refuses %s', async (query) => {
    expect((await gateway.request('GET', `${AT}?${query}`, { key })).status).toBe(400)
  })

  test('is not for keys of projects, nor for keys that manage nothing', async () => {
    const ofProject = await createProjectKey(gateway, projects[1] ?? '', { key })
    const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      key,
      body: { name: 'x', scopes: ['inference'] },
    })
    for (const refused of [ofProject, String(body.key)])
      expect((await gateway.request('GET', AT, { key: refused })).status).toBe(403)
  })
})
