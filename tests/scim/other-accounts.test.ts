import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { connectDirectory, createPerson, newPerson, scimClient, type ScimClient } from './scim-client.ts'

let gateway: TestGateway
let strangerKey: string
let directory: ScimClient
let stranger: ScimClient

beforeAll(async () => {
  gateway = await startTestGateway()
  strangerKey = await createStranger(gateway, 1)
  directory = await connectDirectory(gateway)
  stranger = await connectDirectory(gateway, { key: strangerKey })
})
afterAll(() => gateway.close())

describe('the directory of another account', () => {
  test('gets 404 for people and groups, finds none, and changes nothing', async () => {
    const person = await createPerson(directory)
    const group = await directory.request('POST', '/Groups', {
      displayName: 'Mine',
      members: [{ value: person.id }],
    })
    const bodies = {
      PUT: newPerson(),
      PATCH: { Operations: [{ op: 'replace', path: 'active', value: false }] },
    }
    for (const path of [`/Users/${person.id}`, `/Groups/${group.body.id}`])
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'] as const) {
        const body =
          method === 'PUT' && path.startsWith('/Groups') ? { displayName: 'x' } : bodies[method as 'PUT']
        const answer = await stranger.request(method, path, body)
        expect([method, path, answer.status]).toEqual([method, path, 404])
      }
    for (const path of [
      `/Users?filter=${encodeURIComponent(`id eq "${person.id}" or userName co "@"`)}`,
      '/Groups',
    ])
      expect((await stranger.request('GET', path)).body.totalResults).toBe(0)
    expect((await directory.request('GET', `/Users/${person.id}`)).body).toEqual(person)
    const added = await stranger.request('POST', '/Groups', {
      displayName: 'Theirs',
      members: [{ value: person.id }],
    })
    expect([added.status, added.body.scimType]).toEqual([400, 'invalidValue'])
  })

  test('may have the same person, and ends only what they have there', async () => {
    const email = 'shared@example.com'
    await joinAccount(gateway, { email })
    const theirs = await createPerson(stranger, { userName: email, emails: [{ value: email }] })
    await stranger.request('DELETE', `/Users/${theirs.id}`)
    const { body } = await gateway.request('GET', `/v1/organization/users?emails[]=${email}`)
    expect(body.data[0].user.enabled).toBe(true)
  })

  test('cannot name the same person by the id of another directory', async () => {
    const email = 'twice@example.com'
    const ofPerson = { userName: email, emails: [{ value: email }] }
    const ours = await createPerson(directory, ofPerson)
    const theirs = await createPerson(stranger, ofPerson)
    const off = { Operations: [{ op: 'replace', path: 'active', value: false }] }
    expect((await stranger.request('PATCH', `/Users/${ours.id}`, off)).status).toBe(404)
    expect((await stranger.request('DELETE', `/Users/${ours.id}`)).status).toBe(404)
    for (const [client, { id }] of [
      [stranger, theirs],
      [directory, ours],
    ] as const)
      expect((await client.request('GET', `/Users/${id}`)).body.active).toBe(true)
  })

  test('cannot rename a person who is a member elsewhere, nor see that they are', async () => {
    const email = 'elsewhere@example.com'
    await joinAccount(gateway, { email })
    const theirs = await createPerson(stranger, { userName: email, emails: [{ value: email }] })
    const alone = await createPerson(stranger)
    const rename = (id: string, to: string) =>
      stranger.request('PATCH', `/Users/${id}`, {
        Operations: [{ op: 'replace', value: { userName: to, emails: [{ value: to }] } }],
      })
    const [shared, own] = [
      await rename(theirs.id, 'new-1@example.com'),
      await rename(alone.id, 'new-2@example.com'),
    ]
    expect([shared.status, Object.keys(shared.body), shared.body.userName]).toEqual([
      200,
      Object.keys(own.body),
      'new-1@example.com',
    ])
    expect((await gateway.request('GET', `/v1/organization/users?emails[]=${email}`)).body.data).toHaveLength(
      1,
    )
    const members = await gateway.request('GET', '/v1/organization/users', { key: strangerKey })
    const emails = members.body.data.map((member: { email: string }) => member.email)
    expect(emails).toContain('new-2@example.com')
    expect(emails).not.toContain('new-1@example.com')
  })

  test('does not learn that the operator deactivated a person', async () => {
    const person = await joinAccount(gateway, { email: 'deactivated@example.com' })
    await gateway.request('POST', `/v1/admin/users/${person.id}/deactivate`)
    expect(
      (await stranger.request('POST', '/Users', newPerson({ userName: person.email, emails: [] }))).status,
    ).toBe(201)
  })
})

describe('a SCIM token', () => {
  test('is no key, and a key is no SCIM token', async () => {
    for (const path of ['/v1/models', '/v1/organization/users', '/v1/organization/scim_tokens'])
      expect([path, (await gateway.request('GET', path, { key: directory.token })).status]).toEqual([
        path,
        401,
      ])
    for (const path of ['/Users', '/Groups', '/ServiceProviderConfig']) {
      const answer = await scimClient(gateway, gateway.key).request('GET', path)
      expect([path, answer.status, answer.body.status]).toEqual([path, 401, '401'])
    }
  })

  test('is made only by whoever owns the account, because groups give roles', async () => {
    const role = await gateway.request('POST', '/v1/organization/roles', {
      body: { role_name: 'People', permissions: ['members.manage', 'organization.read'] },
    })
    const person = await joinAccount(gateway, { email: 'people@example.com' })
    await gateway.request('POST', `/v1/organization/users/${person.id}/roles`, {
      body: { role_id: role.body.id },
    })
    const { body } = await person.request('POST', '/v1/tenants/me/api-keys', {
      name: 'own',
      scopes: ['manage'],
    })
    const made = await gateway.request('POST', '/v1/organization/scim_tokens', {
      key: body.key,
      body: { name: 'x' },
    })
    expect([made.status, made.body.error?.type]).toEqual([403, 'permission_error'])
  })

  test('is stored as a hash and shown once', async () => {
    const { body } = await gateway.request('GET', '/v1/organization/scim_tokens')
    expect(JSON.stringify(body)).not.toContain(directory.token)
    expect(body.data[0].redacted_value).toMatch(/^scim-.{4}…$/)
  })

  test('counts like a wrong key if it is wrong: the address has to wait', async () => {
    let status = 401
    for (let tries = 0; tries < 500 && status === 401; tries += 1)
      status = (await scimClient(gateway, `scim-${String(tries).padStart(43, 'x')}`).request('GET', '/Users'))
        .status
    expect(status).toBe(429)
  })
})
