import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../support/long-or.ts'
import { testSeed } from '../support/random-share.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { ACCOUNT_PERMISSIONS } from '../../src/modules/keys/keys.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'
import { COLUMNS, isAllowed, readRights, renderRights, type Operation } from './rights-table.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/rights.md')
const AT_ONCE = 8
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' }
const ID = '01a1effe-44cd-71a0-b867-4dcb5b644571'

type Headers = Readonly<Record<string, string>>

let gateway: TestGateway
/** Thousands of requests: `fetch` would take longer than the gateway. */
let connections: Pool
let projectId: string
let operations: readonly Operation[]
/** How each column of the table asks. */
let askers: Readonly<Record<string, Headers>>

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BODY_STORAGE: 'accounts' } })
  connections = new Pool(gateway.baseUrl, { connections: AT_ONCE })
  const { body } = await gateway.request('GET', '/openapi.json', { key: null })
  operations = operationsOf(body.paths)
  projectId = await createProject(gateway)
  const account: Record<string, Headers> = {}
  for (const role of ['owner', 'billing', 'auditor', 'reader']) account[role] = await sessionOf(role)
  for (const role of ['owner', 'member', 'viewer'])
    account[`project ${role}`] = await sessionOf('reader', [{ id: projectId, role }])
  for (const role of ['operator', 'operator-reader']) account[role] = await sessionOfOperator(role)
  askers = {
    inference: bearer(await keyWith(['inference'])),
    manage: bearer(await keyWith(['manage'])),
    admin: bearer(await keyWith(['admin'])),
    ...account,
  }
}, 60_000)
afterAll(async () => {
  await connections.close()
  await gateway.close()
})

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` })

async function keyWith(scopes: string[]): Promise<string> {
  const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'one', scopes } })
  return String(body.key)
}

let people = 0

async function sessionOf(role: string, projects: { id: string; role: string }[] = []): Promise<Headers> {
  people += 1
  const email = `rights-${people}@example.com`
  const { body } = await gateway.request('POST', '/v1/organization/invites', {
    body: { email, role, projects },
  })
  const accepted = await gateway.request('POST', '/v1/invites/accept', {
    key: null,
    body: { code: body.code, name: email },
  })
  return { ...OWN_PAGE, cookie: accepted.headers.get('set-cookie')?.split(';', 1)[0] ?? '' }
}

async function sessionOfOperator(role: string): Promise<Headers> {
  const person = await joinAccount(gateway, { email: `${role}@example.com` })
  const named = await gateway.request('POST', '/v1/admin/operators', { body: { user_id: person.id, role } })
  expect(named.status).toBe(200)
  return person.headers
}

/**
 * Returns whether the request reached its route. Requests that change something have a broken body, so that those that pass the check
 * change nothing.
 */
async function reaches({ name }: Operation, headers: Headers): Promise<boolean | number> {
  const [method = '', template = ''] = name.split(' ')
  const path = template.replaceAll(/\{(\w+)\}/g, (_, param: string) =>
    // An archived project would refuse all others.
    param === 'project_id' && !template.endsWith('/archive') ? projectId : ID,
  )
  const {
    statusCode,
    headers: answered,
    body,
  } = await connections.request({
    path,
    method,
    headers: { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
    ...(method === 'GET' ? {} : { body: '{' }),
  })
  if (statusCode !== 403) {
    if (answered['content-length'] === undefined) body.on('error', () => {}).destroy()
    else await body.dump()
    return statusCode !== 401 && statusCode !== 429 ? true : statusCode
  }
  const { error } = JSON.parse(await body.text())
  return (error.code ?? error.type) === 'confirmation_required'
}

const withRights = (): readonly Operation[] => operations.filter(({ permissions }) => permissions !== null)

/** Returns the routes that are reached although they must not be, or the other way around. */
async function findWrong(
  headers: Headers,
  isExpected: (operation: Operation) => boolean | number,
  walked = withRights(),
) {
  const wrong: unknown[] = []
  const waiting = [...walked]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const expected = isExpected(next)
      const found = await reaches(next, headers)
      if (found !== expected) wrong.push([next.name, { expected, found }])
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return wrong
}

test('docs/rights.md has every route with what it needs, and what scopes and roles give', async () => {
  const rendered = renderRights(operations)
  if (process.env['WRITE_RIGHTS'] === '1') await writeFile(DOCUMENT, rendered)
  expect(await readFile(DOCUMENT, 'utf8')).toBe(rendered)
})

test.each(Object.keys(COLUMNS))('%s reaches exactly the routes that docs/rights.md says', async (name) => {
  const rights = readRights(await readFile(DOCUMENT, 'utf8'))
  expect(operations.filter((operation) => !rights.has(operation.name))).toEqual([])
  const wrong = await findWrong(
    askers[name] ?? {},
    (operation) => rights.get(operation.name)?.has(name) === true,
  )
  expect(wrong).toEqual([])
})

/** Each route is refused by as many persons with one permission that it needs not. All columns of the table ask every route anyway. */
const REFUSALS = longOr(ACCOUNT_PERMISSIONS.length, 5)

/** Returns the routes that a person with this permission asks: all that it opens, and its share of the others. */
function askedWith(permission: string, isOpen: (operation: Operation) => boolean): readonly Operation[] {
  const number = ACCOUNT_PERMISSIONS.findIndex((one) => one === permission)
  return withRights().filter(
    (operation, index) =>
      isOpen(operation) || (index + number + testSeed) % ACCOUNT_PERMISSIONS.length < REFUSALS,
  )
}

test('a person with one permission reaches exactly the routes that need no other', async () => {
  for (const permission of ACCOUNT_PERMISSIONS) {
    const person = await joinAccount(gateway, { email: `one-${permission}@example.com` })
    const role = await gateway.request('POST', '/v1/organization/roles', {
      body: { role_name: permission, permissions: [permission] },
    })
    const given = await gateway.request('POST', `/v1/organization/users/${person.id}/roles`, {
      body: { role_id: role.body.id },
    })
    expect([role.body, given.status, given.body]).toEqual([role.body, 200, given.body])
    const made = await person.request('POST', '/v1/tenants/me/api-keys', {
      name: 'own',
      scopes: ['inference', 'manage'].filter(
        (scope) => scope === 'manage' || /^(models|deployments|compare)\./.test(permission),
      ),
    })
    expect([permission, made.status, made.body]).toEqual([permission, 201, made.body])
    const held = { permissions: ['keys.own', permission], isOfProject: false } as const
    const isOpen = (operation: Operation): boolean => isAllowed(operation, held)
    const wrong = await findWrong(bearer(String(made.body.key)), isOpen, askedWith(permission, isOpen))
    expect([permission, wrong]).toEqual([permission, []])
  }
}, 120_000)

test('a key of another project or account gets 404 for everything that a path names of a project', async () => {
  const other = await createProjectKey(gateway, await createProject(gateway))
  const account = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Strangers' } })
  const made = await gateway.request('POST', `/v1/admin/accounts/${account.body.id}/api-keys`, {
    body: { name: 'first', scopes: ['inference', 'manage'] },
  })
  const named = operations.filter(({ name }) => /^GET .*\{project_id\}/.test(name))
  expect(named.length).toBeGreaterThan(10)
  for (const { name } of named) {
    const path = name
      .slice('GET '.length)
      .replace('{project_id}', projectId)
      .replaceAll(/\{\w+\}/g, ID)
    for (const key of [other, String(made.body.key)])
      expect([name, (await gateway.request('GET', path, { key })).status]).toEqual([name, 404])
  }
})

test('nobody without a key, with a key of a removed or deactivated person, or of an archived project reaches a route', async () => {
  const archived = await createProject(gateway)
  const ended = [await createProjectKey(gateway, archived)]
  const [removed, deactivated] = [
    await joinAccount(gateway, { email: 'removed@example.com', role: 'owner' }),
    await joinAccount(gateway, { email: 'deactivated@example.com', role: 'owner' }),
  ]
  for (const person of [removed, deactivated])
    ended.push(String((await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })).body.key))
  await gateway.request('DELETE', `/v1/organization/users/${removed.id}`)
  await gateway.request('POST', `/v1/admin/users/${deactivated.id}/deactivate`)
  await gateway.request('POST', `/v1/organization/projects/${archived}/archive`)
  const askers = [...ended.map(bearer), {}]
  for (const headers of askers) {
    const { status } = await fetch(`${gateway.baseUrl}/v1/models`, { headers })
    expect(status).toBe(401)
  }
  // An address with many wrong keys has to wait, which is a refusal too.
  for (const headers of askers) {
    const wrong = await findWrong(headers, () => 401)
    expect(wrong.filter((one) => !JSON.stringify(one).includes('"found":429'))).toEqual([])
  }
})

function operationsOf(paths: Record<string, Record<string, Record<string, unknown>>>): Operation[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]): Operation => {
        const { 'x-permissions': permissions = null, 'x-reach': reach = 'project' } = described
        return {
          name: `${method.toUpperCase()} ${path}`,
          permissions: Array.isArray(permissions) ? permissions.map(String) : null,
          reach: reach === 'account' || reach === 'gateway' ? reach : 'project',
          isOfDirectory: JSON.stringify(described['security']).includes('scimToken'),
        }
      }),
    )
    .toSorted((a, b) => (a.name.slice(a.name.indexOf('/')) < b.name.slice(b.name.indexOf('/')) ? -1 : 1))
}
