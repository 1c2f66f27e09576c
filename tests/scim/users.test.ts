import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
