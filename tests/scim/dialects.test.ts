import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { connectDirectory, createPerson, type ScimClient } from './scim-client.ts'

let gateway: TestGateway
let directory: ScimClient

beforeAll(async () => {
  gateway = await startTestGateway()
  directory = await connectDirectory(gateway)
})
afterAll(() => gateway.close())

const PATCH_URN = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

async function patched(...operations: unknown[]) {
  const { id } = await createPerson(directory)
  const { status, body } = await directory.request('PATCH', `/Users/${id}`, {
    schemas: [PATCH_URN],
    Operations: operations,
  })
  expect([status, body]).toEqual([200, body])
  return body
}

describe('as Entra writes', () => {
  test('operations with a capital letter, booleans as text, and values in lists', async () => {
    const body = await patched(
      { op: 'Replace', path: 'active', value: 'False' },
      { op: 'Add', path: 'externalId', value: [{ $ref: null, value: 'abc' }] },
      { op: 'Add', path: 'name.givenName', value: 'Ada' },
      {
        op: 'Replace',
        path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
        value: 'R&D',
      },
    )
    expect(body).toMatchObject({ active: false, externalId: 'abc', name: { givenName: 'Ada' } })
  })

  test('the address for work, which it makes if there is none', async () => {
    const path = 'emails[type eq "work"].value'
    const changed = await patched({ op: 'Replace', path, value: 'work-1@example.com' })
    expect(changed.emails).toMatchObject([{ type: 'work', value: 'work-1@example.com' }])
    const made = await patched(
      { op: 'remove', path: 'emails' },
      { op: 'Add', path, value: 'work-2@example.com' },
    )
    expect(made.emails).toEqual([{ type: 'work', value: 'work-2@example.com' }])
  })

  test('paths as the names of a value', async () => {
    const body = await patched({
      op: 'Add',
      value: {
        'name.familyName': 'Lovelace',
        'emails[type eq "home"].value': 'home@example.com',
        displayName: 'Ada',
      },
    })
    expect(body).toMatchObject({ displayName: 'Ada', name: { familyName: 'Lovelace' } })
    expect(body.emails).toHaveLength(2)
  })
})

test('as Okta writes: a value without a path, with its id', async () => {
  const body = await patched({ op: 'replace', value: { id: 'x', active: false } })
  expect(body.active).toBe(false)
})

describe('a filter', () => {
  const search = async (filter: string) =>
    directory.request('GET', `/Users?filter=${encodeURIComponent(filter)}`)

  test.each([
    `userName eq "NAME" and active eq true`,
    `userName eq "NAME" and active eq "True"`,
    `emails.value eq "NAME"`,
    `emails[type eq "work" and value co "NAME"]`,
    `emails[type eq "work"].value eq "NAME"`,
    `urn:ietf:params:scim:schemas:core:2.0:User:userName sw "NAME"`,
    `(externalId eq "x" or userName eq "NAME") and not (active eq false)`,
    `userName eq "NAME" and meta.created gt "2020-01-01T00:00:00Z"`,
  ])('finds one person: %s', async (filter) => {
    const { userName } = await createPerson(directory)
    const { status, body } = await search(filter.replaceAll('NAME', userName))
    expect([status, body.totalResults]).toEqual([200, 1])
  })

  test.each([
    'userName',
    'userName eq',
    'password eq "x"',
    `userName eq "x' OR true --`,
    'userName constructor "x"',
    `${'('.repeat(20)}userName eq "x"${')'.repeat(20)} or ${'('.repeat(1500)}`,
    Array.from({ length: 60 }, () => 'active eq true').join(' and '),
    // The parser would take hours.
    `userName eq "${'\n'.repeat(60)}`,
    'active gt true',
    'userName gt "a"',
    'emails[emails[type eq "x"]]',
  ])('is refused: %j', async (filter) => {
    const { status, body } = await search(filter)
    expect([status, body.scimType]).toEqual([400, 'invalidFilter'])
  })

  test('is a value and no SQL', async () => {
    const before = (await directory.request('GET', '/Users?count=0')).body.totalResults
    const { status, body } = await search(`userName eq "'; DELETE FROM scim_users; --" or displayName co "%"`)
    expect([status, body.totalResults]).toEqual([200, 0])
    expect((await directory.request('GET', '/Users?count=0')).body.totalResults).toBe(before)
  })
})

test('pages are bounded and counted from one', async () => {
  await createPerson(directory)
  const all = (await directory.request('GET', '/Users')).body.totalResults
  const { body } = await directory.request('GET', '/Users?startIndex=0&count=1')
  expect(body).toMatchObject({ totalResults: all, startIndex: 1, itemsPerPage: 1 })
  const beyond = await directory.request('GET', `/Users?startIndex=${all + 1}&count=100000`)
  expect(beyond.body).toMatchObject({ totalResults: all, itemsPerPage: 0, Resources: [] })
})

test('JSON is taken and sent too, and other forms are not', async () => {
  const { id } = await createPerson(directory)
  const path = `/Users/${id}`
  const asJson = await directory.request('GET', path, undefined, { accept: 'application/json' })
  expect(asJson.headers.get('content-type')).toContain('application/json')
  const text = await directory.request('PUT', path, 'x', { 'content-type': 'text/plain' })
  expect([text.status, text.body.status]).toEqual([415, '415'])
  const broken = await directory.request('PUT', path, '{')
  expect([broken.status, broken.body.scimType]).toEqual([400, 'invalidSyntax'])
})
