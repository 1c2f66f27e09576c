import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { connectDirectory, createPerson, newPerson, type ScimClient } from './scim-client.ts'

let gateway: TestGateway
let directory: ScimClient

beforeAll(async () => {
  gateway = await startTestGateway()
  directory = await connectDirectory(gateway)
})
afterAll(() => gateway.close())

const patch = (id: string, ...operations: unknown[]) =>
  directory.request('PATCH', `/Users/${id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: operations,
  })

describe('a person', () => {
  test('whom a directory creates is a member of the account', async () => {
    const given = newPerson({ externalId: '00u1' })
    const { status, headers, body } = await directory.request('POST', '/Users', given)
    expect(status).toBe(201)
    expect(headers.get('content-type')).toContain('application/scim+json')
    expect(headers.get('etag')).toBe('W/"1"')
    expect(headers.get('location')).toBe(`${gateway.baseUrl}/scim/v2/Users/${body.id}`)
    expect(body).toMatchObject({
      ...given,
      externalId: '00u1',
      meta: { resourceType: 'User', version: 'W/"1"' },
    })
    expect((await directory.request('GET', `/Users/${body.id}`)).body).toEqual(body)
    const { body: members } = await gateway.request(
      'GET',
      `/v1/organization/users?emails[]=${given.userName}`,
    )
    expect(members.data).toMatchObject([{ email: given.userName, role: 'reader' }])
  })

  test('is found by userName in any case', async () => {
    const { id, userName } = await createPerson(directory)
    const filter = encodeURIComponent(`userName eq "${userName.toUpperCase()}"`)
    const { body } = await directory.request('GET', `/Users?filter=${filter}`)
    expect(body).toMatchObject({ totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [{ id }] })
  })

  test('409 uniqueness: with the userName of another', async () => {
    const { userName } = await createPerson(directory)
    const { status, body } = await directory.request('POST', '/Users', newPerson({ userName }))
    expect([status, body.schemas, body.status, body.scimType]).toEqual([
      409,
      ['urn:ietf:params:scim:api:messages:2.0:Error'],
      '409',
      'uniqueness',
    ])
  })

  test('409 uniqueness: a changed userName or address that another person of the account has, and both stay who they are', async () => {
    const [one, other] = [await createPerson(directory), await createPerson(directory)]
    const member = await joinAccount(gateway, { email: 'not-of-the-directory@example.com' })
    const taken = [
      { userName: other.userName },
      { userName: other.userName.toUpperCase() },
      { emails: [{ value: other.userName.toUpperCase(), type: 'work', primary: true }] },
      { userName: member.email, emails: [{ value: member.email, type: 'work', primary: true }] },
    ]
    for (const value of taken) {
      const { schemas, name, userName, emails } = one
      for (const answer of [
        await directory.request('PATCH', `/Users/${one.id}`, { Operations: [{ op: 'replace', value }] }),
        await directory.request('PUT', `/Users/${one.id}`, { schemas, name, userName, emails, ...value }),
      ])
        expect([value, answer.status, answer.body.scimType]).toEqual([value, 409, 'uniqueness'])
    }
    for (const { id, ...resource } of [one, other])
      expect((await directory.request('GET', `/Users/${id}`)).body).toEqual({ id, ...resource })
    const { body } = await member.request('GET', '/v1/sessions/current')
    expect([body.user.id, body.user.email]).toEqual([member.id, member.email])
  })

  test('keeps their place, groups and sessions with another userName and address', async () => {
    const before = await joinAccount(gateway, { email: 'before@example.com' })
    const { id } = await createPerson(directory, {
      userName: before.email,
      emails: [{ value: before.email, type: 'work', primary: true }],
    })
    const after = 'after@example.com'
    const value = { userName: after, emails: [{ value: after, type: 'work', primary: true }] }
    const { status, body } = await directory.request('PATCH', `/Users/${id}`, {
      Operations: [{ op: 'replace', value }],
    })
    expect([status, body.id, body.userName]).toEqual([200, id, after])
    const session = await before.request('GET', '/v1/sessions/current')
    expect([session.body.user.id, session.body.user.email]).toEqual([before.id, after])
    // Whoever gets the former name is somebody else.
    const next = await createPerson(directory, {
      userName: before.email,
      emails: [{ value: before.email, type: 'work', primary: true }],
    })
    expect(next.id).not.toBe(id)
    const again = await before.request('GET', '/v1/sessions/current')
    expect(again.body.user.id).toBe(before.id)
  })

  test('is deactivated and activated by a PATCH', async () => {
    const { id } = await createPerson(directory)
    const off = await patch(id, { op: 'Replace', path: 'active', value: 'False' })
    expect([off.status, off.body.active, off.body.meta.version]).toEqual([200, false, 'W/"2"'])
    const on = await patch(id, { op: 'replace', value: { active: true } })
    expect([on.status, on.body.active]).toEqual([200, true])
  })

  test('is gone for the directory after a DELETE', async () => {
    const { id } = await createPerson(directory)
    expect((await directory.request('DELETE', `/Users/${id}`)).status).toBe(204)
    const { status, body } = await directory.request('GET', `/Users/${id}`)
    expect([status, body.status, body.detail]).toEqual([404, '404', 'No such user.'])
  })
})
