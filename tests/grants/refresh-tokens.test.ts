import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatStatus, createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { CLIENT_ID, postForm, refresh, signInTool } from './sign-in-tool.ts'

let gateway: TestGateway
let other: TestGateway
let database: Client
let projectId: string
let person: Person

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
  database = new Client({ connectionString: gateway.connectionString, options: '-c search_path=parkway' })
  await database.connect()
  projectId = await createProject(gateway)
  person = await join('ada')
})

afterAll(async () => {
  await database.end()
  await other.close()
  await gateway.close()
})

function join(name: string): Promise<Person> {
  const projects = [{ id: projectId, role: 'member' }]
  return joinAccount(gateway, { email: `${name}@example.com`, role: 'reader', projects })
}

/** Lets the time pass for all refresh tokens. */
async function pass(interval: string): Promise<void> {
  await database.query(
    `UPDATE refresh_tokens SET created_at = created_at - $1::interval, used_at = used_at - $1::interval`,
    [interval],
  )
  await database.query('UPDATE grants SET expires_at = expires_at - $1::interval', [interval])
}

describe('a refresh token', () => {
  test('gets the next tokens, in any process', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const { status, body } = await refresh(other, tool.refreshToken)
    expect([status, body.token_type, body.expires_in]).toEqual([200, 'Bearer', 3600])
    expect(body.refresh_token).not.toBe(tool.refreshToken)
    expect(await chatStatus(gateway, body.access_token)).toBe(200)
    // A request that has just begun with the token before is not hurt.
    expect(await chatStatus(gateway, tool.accessToken)).toBe(200)
    expect((await refresh(gateway, body.refresh_token)).status).toBe(200)
  })

  test('ends the tool with all of its tokens everywhere if it is used twice, and tells', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const { body: next } = await refresh(gateway, tool.refreshToken)
    expect(await chatStatus(other, next.access_token)).toBe(200)
    await pass('31 seconds')
    const stolen = await refresh(gateway, tool.refreshToken)
    expect([stolen.status, stolen.body.error]).toEqual([401, 'invalid_grant'])
    expect(await chatStatus(other, next.access_token)).toBe(401)
    expect(await chatStatus(other, tool.accessToken)).toBe(401)
    expect((await refresh(other, next.refresh_token)).body.error).toBe('invalid_grant')
    const { body: log } = await gateway.request(
      'GET',
      '/v1/organization/audit_logs?event_types[]=grant.reused',
    )
    expect(log.data[0]).toMatchObject({ type: 'grant.reused' })
    expect(JSON.stringify(log.data[0])).toContain(person.email)
    expect(JSON.stringify(log.data[0])).toContain(tool.grantId)
  })

  test('gets two processes of a tool that use it at once the same successor', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const answers = await Promise.all(
      [gateway, other, gateway, other].map((process) => refresh(process, tool.refreshToken)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    for (const { body } of answers) expect(await chatStatus(gateway, body.access_token)).toBe(200)
    expect((await refresh(gateway, answers[0]?.body.refresh_token)).status).toBe(200)
  })

  test('stolen by a thief who is quick is noticed when the successor is used twice', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const { body: ofTool } = await refresh(gateway, tool.refreshToken)
    const { body: ofThief } = await refresh(gateway, tool.refreshToken)
    expect(ofThief.refresh_token).toBe(ofTool.refresh_token)
    const { body: further } = await refresh(gateway, ofThief.refresh_token)
    await pass('1 hour')
    expect((await refresh(gateway, ofTool.refresh_token)).body.error).toBe('invalid_grant')
    expect(await chatStatus(gateway, further.access_token)).toBe(401)
  })

  test('is refused at once when its successor was used', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const { body: next } = await refresh(gateway, tool.refreshToken)
    await refresh(gateway, next.refresh_token)
    expect((await refresh(gateway, tool.refreshToken)).body.error).toBe('invalid_grant')
    expect((await refresh(gateway, next.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('is bound to its client', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const wrong = await refresh(gateway, tool.refreshToken, 'other-tool')
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_grant'])
    expect((await refresh(gateway, tool.refreshToken)).status).toBe(200)
  })

  test('is no access token, and an access token no refresh token', async () => {
    const tool = await signInTool(gateway, person, projectId)
    expect(await chatStatus(gateway, tool.refreshToken)).toBe(401)
    expect((await refresh(gateway, tool.accessToken)).body.error).toBe('invalid_grant')
  })

  test('ends after 30 days without use, and after 90 in any case', async () => {
    const idle = await signInTool(gateway, person, projectId)
    await pass('31 days')
    expect((await refresh(gateway, idle.refreshToken)).body.error).toBe('invalid_grant')
    let { refreshToken } = await signInTool(gateway, person, projectId)
    const statuses: number[] = []
    for (let month = 0; month < 4; month += 1) {
      await pass('25 days')
      const { status, body } = await refresh(gateway, refreshToken)
      statuses.push(status)
      refreshToken = String(body.refresh_token)
    }
    expect(statuses).toEqual([200, 200, 200, 401])
  })
})

describe('the tools of a person who is deactivated', () => {
  test('are refused at once, with 401, and do not come back with the person', async () => {
    const leaver = await join('grace')
    const tool = await signInTool(gateway, leaver, projectId)
    expect(await chatStatus(other, tool.accessToken)).toBe(200)
    await gateway.request('POST', `/v1/admin/users/${leaver.id}/deactivate`)
    expect(await chatStatus(other, tool.accessToken)).toBe(401)
    const refused = await refresh(other, tool.refreshToken)
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_grant'])
    await gateway.request('POST', `/v1/admin/users/${leaver.id}/activate`)
    expect(await chatStatus(other, tool.accessToken)).toBe(401)
    expect((await refresh(other, tool.refreshToken)).body.error).toBe('invalid_grant')
  })

  test('are gone when the person is removed from the account or the project', async () => {
    const [ofAccount, ofProject] = [await join('removed'), await join('moved')]
    const tools = [
      await signInTool(gateway, ofAccount, projectId),
      await signInTool(gateway, ofProject, projectId),
    ]
    await gateway.request('DELETE', `/v1/organization/users/${ofAccount.id}`)
    await gateway.request('DELETE', `/v1/organization/projects/${projectId}/users/${ofProject.id}`)
    // Added again, which must not bring the tools back.
    await gateway.request('POST', `/v1/organization/projects/${projectId}/users`, {
      body: { user_id: ofProject.id, role: 'member' },
    })
    await signInTool(gateway, await join('removed'), projectId)
    for (const tool of tools) {
      expect(await chatStatus(other, tool.accessToken)).toBe(401)
      expect((await refresh(other, tool.refreshToken)).body.error).toBe('invalid_grant')
    }
  })

  test('are refused with 401 while their account is suspended, and work after it', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Other' } })
    const { body: root } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { name: 'root' },
    })
    const owner = await joinAccount(gateway, { email: 'eve@example.com', role: 'owner', key: root.key })
    const tool = await signInTool(gateway, owner, null)
    await gateway.request('POST', `/v1/admin/accounts/${account.id}/suspend`)
    expect(await chatStatus(other, tool.accessToken)).toBe(403)
    expect((await refresh(other, tool.refreshToken)).status).toBe(401)
    await gateway.request('POST', `/v1/admin/accounts/${account.id}/activate`)
    expect((await refresh(other, tool.refreshToken)).status).toBe(200)
  })
})

describe('a tool', () => {
  test('signs itself out with its refresh token', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const fields = { token: tool.refreshToken, token_type_hint: 'refresh_token', client_id: CLIENT_ID }
    expect((await postForm(gateway, '/oauth/revoke', fields)).status).toBe(200)
    expect(await chatStatus(other, tool.accessToken)).toBe(401)
    expect((await refresh(other, tool.refreshToken)).body.error).toBe('invalid_grant')
    // Unknown tokens are no error, as RFC 7009 demands.
    expect((await postForm(gateway, '/oauth/revoke', fields)).status).toBe(200)
    const { body: log } = await gateway.request(
      'GET',
      '/v1/organization/audit_logs?event_types[]=grant.deleted',
    )
    expect(JSON.stringify(log.data[0])).toContain(tool.grantId)
  })

  test('not by another client', async () => {
    const tool = await signInTool(gateway, person, projectId)
    const fields = { token: tool.refreshToken, client_id: 'other-tool' }
    const { status, body } = await postForm(gateway, '/oauth/revoke', fields)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect(await chatStatus(other, tool.accessToken)).toBe(200)
  })

  test('from one access token only, with that token', async () => {
    const tool = await signInTool(gateway, person, projectId)
    await postForm(gateway, '/oauth/revoke', { token: tool.accessToken })
    expect(await chatStatus(other, tool.accessToken)).toBe(401)
    expect((await refresh(other, tool.refreshToken)).status).toBe(200)
  })

  test('is signed out by its person, by whoever manages keys there, and by nobody else', async () => {
    const [own, managed] = [
      await signInTool(gateway, person, projectId),
      await signInTool(gateway, person, projectId),
    ]
    const stranger = await join('trudy')
    const at = (tool: { grantId: string }) => `/v1/grants/${tool.grantId}`
    expect((await stranger.request('DELETE', at(own))).status).toBe(404)
    const { body: seen } = await stranger.request('GET', '/v1/grants')
    expect(seen.data).toEqual([])
    expect((await person.request('DELETE', at(own))).status).toBe(200)
    expect((await gateway.request('DELETE', at(managed))).status).toBe(200)
    for (const tool of [own, managed]) expect(await chatStatus(other, tool.accessToken)).toBe(401)
    expect((await gateway.request('DELETE', at(own))).status).toBe(404)
  })

  test('without the others of the same person', async () => {
    const [ended, kept] = [
      await signInTool(gateway, person, projectId),
      await signInTool(gateway, person, projectId, 'another-tool'),
    ]
    await person.request('DELETE', `/v1/grants/${ended.grantId}`)
    expect(await chatStatus(other, ended.accessToken)).toBe(401)
    expect(await chatStatus(other, kept.accessToken)).toBe(200)
  })
})

test('what a tool does is usage of its person', async () => {
  const user = await join('usage')
  const tool = await signInTool(gateway, user, projectId)
  expect(await chatStatus(gateway, tool.accessToken)).toBe(200)
  const { body } = await gateway.request(
    'GET',
    `/v1/organization/usage/completions?start_time=${Math.floor(Date.now() / 1000) - 3600}&user_ids[]=${user.id}&group_by[]=user_id`,
  )
  const results = body.data.flatMap((bucket: { results: unknown[] }) => bucket.results)
  expect(results).toEqual([expect.objectContaining({ user_id: user.id, num_model_requests: 1 })])
})
