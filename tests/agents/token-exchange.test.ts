import { exportSPKI, importJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createProject, createProjectKey, joinAccount } from '../organization/join-account.ts'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIssuerServer, type IssuerServer } from './issuer-server.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const AUDIENCE = 'https://gateway.example.com'

let actions: IssuerServer
let gateway: TestGateway
let projectId: string
let serviceAccountId: string

beforeAll(async () => {
  actions = await startIssuerServer()
  gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: actions.host } })
  projectId = await createProject(gateway)
  serviceAccountId = await createServiceAccount(projectId)
})

afterAll(async () => {
  await gateway.close()
  await actions.close()
})

beforeEach(async () => {
  const { body } = await gateway.request('GET', issuersOf())
  for (const { id } of body.data) await gateway.request('DELETE', `${issuersOf()}/${id}`)
})

async function createServiceAccount(project: string, key = gateway.key): Promise<string> {
  const at = `/v1/organization/projects/${project}/service_accounts`
  const { body } = await gateway.request('POST', at, {
    key,
    body: { name: 'CI', create_service_account_only: true },
  })
  return String(body.id)
}

const issuersOf = (project = projectId) => `/v1/organization/projects/${project}/trusted_issuers`

const draft = (members: object = {}): Record<string, unknown> => ({
  name: 'GitHub Actions',
  issuer: actions.url,
  audience: AUDIENCE,
  rules: [
    {
      claims: { repository: 'acme/site', ref: 'refs/heads/main', environment: 'production' },
      service_account_id: serviceAccountId,
      lifetime_seconds: 600,
    },
  ],
  ...members,
})

async function trust(members: object = {}, { project = projectId, key = gateway.key } = {}): Promise<string> {
  const { status, body } = await gateway.request('POST', issuersOf(project), { key, body: draft(members) })
  expect([status, body]).toEqual([200, body])
  return String(body.id)
}

/** The claims of a job in GitHub Actions. */
const job = (members: object = {}) => ({
  aud: AUDIENCE,
  sub: 'repo:acme/site:environment:production',
  repository: 'acme/site',
  repository_owner: 'acme',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  environment: 'production',
  job_workflow_ref: 'acme/site/.github/workflows/deploy.yml@refs/heads/main',
  jti: `job-${Math.floor(performance.now() * 1e6)}`,
  ...members,
})

async function exchange(audience: string, subjectToken: string, members: Record<string, string> = {}) {
  const answer = await fetch(`${gateway.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: GRANT,
      audience,
      subject_token: subjectToken,
      subject_token_type: JWT,
      ...members,
    }),
  })
  const body: Record<string, string> = Object(await answer.json())
  return { status: answer.status, body, headers: answer.headers }
}

const permissions = (token: string) => gateway.request('GET', '/v1/tenants/me/permissions', { key: token })

async function expectRefused(audience: string, token: string): Promise<void> {
  const { status, body } = await exchange(audience, token)
  expect([status, body]).toEqual([
    400,
    {
      error: 'invalid_grant',
      error_description: expect.stringContaining('is not one that is trusted here, or no rule fits'),
    },
  ])
}

describe('a token of a CI system', () => {
  test('becomes a token of the service account that its rule names', async () => {
    const { status, body, headers } = await exchange(await trust(), await actions.sign(job()))
    expect([status, headers.get('cache-control'), body]).toEqual([
      200,
      'no-store',
      {
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        issued_token_type: ACCESS_TOKEN,
      },
    ])
    expect(Number(body['expires_in'])).toBeGreaterThan(590)
    expect(Number(body['expires_in'])).toBeLessThanOrEqual(600)
    const { body: held } = await permissions(body['access_token'] ?? '')
    expect(held).toMatchObject({ service_account_id: serviceAccountId, project_id: projectId, user_id: null })
    expect((await gateway.request('GET', '/v1/models', { key: body['access_token'] ?? '' })).status).toBe(200)
    const { body: log } = await gateway.request('GET', '/v1/organization/audit_logs?limit=1')
    expect(log.data[0]).toMatchObject({
      type: 'token.exchanged',
      'token.exchanged': { id: serviceAccountId, data: { subject: 'repo:acme/site:environment:production' } },
    })
    const { body: metrics } = await gateway.request('GET', '/metrics')
    expect(metrics).toMatch(/parkway_token_exchanges_total\{outcome="issued"\} \d/)
  })

  test.each([
    ['another audience', { aud: 'https://elsewhere.example.com' }],
    ['no audience', { aud: undefined }],
    ['another repository', { repository: 'acme/other' }],
    ['another branch', { ref: 'refs/heads/feature' }],
    ['no environment', { environment: undefined }],
    ['another issuer', { iss: 'https://elsewhere.example.com' }],
    ['an issuer with a slash more', { iss: 'set below' }],
    ['no subject', { sub: undefined }],
    ['no expiry', { exp: undefined }],
    ['an expiry that has passed', { exp: Math.floor(Date.now() / 1000) - 120 }],
    ['a beginning that is to come', { nbf: Math.floor(Date.now() / 1000) + 600 }],
    ['no time of issue', { iat: undefined }],
    ['a time of issue long ago', { iat: Math.floor(Date.now() / 1000) - 25 * 3600 }],
    ['a time of issue that is to come', { iat: Math.floor(Date.now() / 1000) + 600 }],
  ])('is refused with %s', async (name, members) => {
    const issuer = name === 'an issuer with a slash more' ? { iss: `${actions.url}/` } : {}
    await expectRefused(await trust(), await actions.sign(job({ ...members, ...issuer })))
  })

  test('is refused without a signature, or with one that is not of a key of the issuer', async () => {
    const audience = await trust()
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: actions.url, iat: now, exp: now + 600, ...job() }
    for (const alg of ['none', 'None', 'NONE'])
      await expectRefused(audience, `${encode({ alg, typ: 'JWT' })}.${encode(claims)}.`)

    // The public key as the secret of a symmetric signature.
    const { kid, publicJwk } = actions.key()
    const publicKey = await importJWK(publicJwk, 'RS256', { extractable: true })
    if (publicKey instanceof Uint8Array) throw new Error('not a public key')
    const spki = await exportSPKI(publicKey)
    for (const secret of [spki, spki.trim(), JSON.stringify(publicJwk)]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(Buffer.from(secret))
      await expectRefused(audience, forged)
    }

    const [head = '', , signature = ''] = (await actions.sign(job())).split('.')
    await expectRefused(audience, `${head}.${encode({ ...claims, repository: 'acme/site' })}.${signature}`)
    const other = await startIssuerServer()
    await expectRefused(audience, await other.sign({ ...claims }))
    await other.close()
    for (const text of ['x', 'a.b.c', `${'a'.repeat(20_000)}.b.c`]) await expectRefused(audience, text)
  })

  test('with a rule for once is taken once', async () => {
    const rule = { claims: { repository: 'acme/site' }, service_account_id: serviceAccountId, once: true }
    const audience = await trust({ rules: [rule] })
    const token = await actions.sign(job())
    expect((await exchange(audience, token)).status).toBe(200)
    await expectRefused(audience, token)
    await expectRefused(audience, await actions.sign(job({ jti: undefined })))
  })

  test('is refused if the service account was deleted, and so are the tokens it had', async () => {
    const id = await createServiceAccount(projectId)
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id: id }]
    const audience = await trust({ rules })
    const { body } = await exchange(audience, await actions.sign(job()))
    await gateway.request('DELETE', `/v1/organization/projects/${projectId}/service_accounts/${id}`)
    expect((await permissions(body['access_token'] ?? '')).status).toBe(401)
    await expectRefused(audience, await actions.sign(job()))
  })

  test('is refused if the project was archived, the issuer removed, or the account suspended', async () => {
    const project = await createProject(gateway)
    const id = await createServiceAccount(project)
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id: id }]
    const [removed, kept] = [await trust({ rules }, { project }), await trust({ rules }, { project })]
    expect((await gateway.request('DELETE', `${issuersOf(project)}/${removed}`)).status).toBe(200)
    await expectRefused(removed, await actions.sign(job()))
    const { body } = await exchange(kept, await actions.sign(job()))
    await gateway.request('POST', `/v1/organization/projects/${project}/archive`)
    await expectRefused(kept, await actions.sign(job()))
    expect((await permissions(body['access_token'] ?? '')).status).toBe(401)
  })

  test('says which fields are wrong, as OAuth does', async () => {
    const audience = await trust()
    const token = await actions.sign(job())
    for (const members of [
      { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      { actor_token: token },
      { audience: '' },
    ]) {
      const { status, body } = await exchange(audience, token, members)
      expect([status, body['error']]).toEqual([400, 'invalid_request'])
    }
    await expectRefused('issuer_00000000000000000000000000000000', token)
    await expectRefused('x', token)
  })
})

describe('a token of a cluster that cannot be reached', () => {
  test('is checked with the keys that were given', async () => {
    const cluster = await startIssuerServer()
    const issuer = 'https://kubernetes.default.svc.cluster.local'
    const claims = { 'kubernetes.io/namespace': 'batch', sub: 'system:serviceaccount:batch:*' }
    const audience = await trust({
      name: 'Cluster',
      issuer,
      jwks: { keys: [cluster.key().publicJwk] },
      rules: [{ claims, service_account_id: serviceAccountId }],
    })
    const pod = (members: object = {}) =>
      cluster.sign({
        iss: issuer,
        aud: [AUDIENCE],
        sub: 'system:serviceaccount:batch:reports',
        'kubernetes.io': {
          namespace: 'batch',
          serviceaccount: { name: 'reports' },
          pod: { name: 'reports-1' },
        },
        ...members,
      })
    expect((await exchange(audience, await pod())).status).toBe(200)
    await expectRefused(audience, await pod({ sub: 'system:serviceaccount:other:reports' }))
    await expectRefused(audience, await pod({ 'kubernetes.io': { namespace: 'other' } }))
    await expectRefused(audience, await pod({ 'kubernetes.io': 'batch' }))
    expect(cluster.keyReads()).toBe(0)
    await cluster.close()
  })
})

describe('an issuer that is away', () => {
  test('is told as such, and asks for patience', async () => {
    const away = await startIssuerServer()
    const own = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: away.host } })
    try {
      const project = await createProject(own)
      const made = await own.request('POST', `/v1/organization/projects/${project}/service_accounts`, {
        body: { name: 'CI', create_service_account_only: true },
      })
      const rules = [{ claims: { repository: 'acme/site' }, service_account_id: made.body.id }]
      const { body } = await own.request('POST', issuersOf(project), {
        body: draft({ issuer: away.url, rules }),
      })
      const ask = async () => {
        const answer = await fetch(`${own.baseUrl}/oauth/token`, {
          method: 'POST',
          body: new URLSearchParams({
            grant_type: GRANT,
            audience: body.id,
            subject_token: await away.sign(job()),
            subject_token_type: JWT,
          }),
        })
        return { status: answer.status, retry: answer.headers.get('retry-after'), body: await answer.json() }
      }
      away.setAway(true)
      expect(await ask()).toEqual({
        status: 503,
        retry: expect.any(String),
        body: { error: 'temporarily_unavailable', error_description: expect.any(String) },
      })
    } finally {
      await own.close()
      await away.close()
    }
  })
})

describe('whoever trusts an issuer', () => {
  test('sees it, changes it and removes it', async () => {
    const id = await trust()
    const { body: list } = await gateway.request('GET', issuersOf())
    expect(list.data.find((one: { id: string }) => one.id === id)).toMatchObject({
      object: 'organization.project.trusted_issuer',
      algorithms: ['RS256', 'ES256'],
      jwks: null,
      rules: [{ lifetime_seconds: 600, once: false, service_account_id: serviceAccountId }],
    })
    const { body: changed } = await gateway.request('POST', `${issuersOf()}/${id}`, {
      body: { audience: 'https://other.example.com' },
    })
    expect(changed).toMatchObject({ id, audience: 'https://other.example.com', issuer: actions.url })
    await expectRefused(id, await actions.sign(job()))
    expect((await gateway.request('DELETE', `${issuersOf()}/${id}`)).body).toMatchObject({
      id,
      deleted: true,
    })
    expect((await gateway.request('DELETE', `${issuersOf()}/${id}`)).status).toBe(404)
  })

  const rule = (claims: object, members: object = {}) => ({
    rules: [{ claims, service_account_id: 'set below', ...members }],
  })
  test.each([
    ['an address without encryption', { issuer: 'http://issuer.example.com' }],
    ['no address and no keys', { issuer: 'my-cluster' }],
    ['symmetric signatures', { algorithms: ['HS256'] }],
    ['no signatures', { algorithms: ['none'] }],
    ['a shared secret as a key', { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }],
    ['a private key', { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b', d: 'c' }] } }],
    ['no rules', { rules: [] }],
    ['a rule without claims', rule({})],
    ['a rule that anybody at the issuer fits', rule({ ref: 'refs/heads/main' })],
    ['a pattern for everybody', rule({ repository: '*' })],
    ['a pattern where there is none', rule({ sub: 'a', environment: 'prod*' })],
    ['a pattern with many wildcards', rule({ sub: 'a*b*c*d*e*f' })],
    ['a longer life than an hour', rule({ sub: 'a' }, { lifetime_seconds: 3601 })],
  ])('gets an error for %s', async (_name, members) => {
    const text = JSON.stringify(draft(members)).replaceAll('set below', serviceAccountId)
    const { status, body } = await gateway.request('POST', issuersOf(), { body: text })
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error'])
  })

  test('needs a service account of the same project', async () => {
    const other = await createServiceAccount(await createProject(gateway))
    const rules = [{ claims: { sub: 'a' }, service_account_id: other }]
    expect((await gateway.request('POST', issuersOf(), { body: draft({ rules }) })).status).toBe(404)
  })

  test('is of the account, manages keys, and cannot give what they lack', async () => {
    const stranger = await createStranger(gateway)
    const at = { key: stranger }
    expect((await gateway.request('GET', issuersOf(), at)).status).toBe(404)
    expect((await gateway.request('POST', issuersOf(), { ...at, body: draft() })).status).toBe(404)
    const id = await trust()
    expect((await gateway.request('DELETE', `${issuersOf()}/${id}`, at)).status).toBe(404)
    const member = await joinAccount(gateway, {
      email: 'member@example.com',
      projects: [{ id: projectId, role: 'member' }],
    })
    expect((await member.request('POST', issuersOf(), draft())).status).toBe(403)
    const elsewhere = await createProjectKey(gateway, await createProject(gateway))
    expect((await gateway.request('GET', issuersOf(), { key: elsewhere })).status).toBe(404)
    // A token of a machine makes no further trust.
    const owner = await createServiceAccount(projectId)
    await gateway.request('POST', `/v1/organization/projects/${projectId}/service_accounts/${owner}`, {
      body: { role: 'owner' },
    })
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id: owner }]
    const { body } = await exchange(await trust({ rules }), await actions.sign(job()))
    const made = await gateway.request('POST', issuersOf(), {
      key: body['access_token'] ?? '',
      body: draft(),
    })
    expect(made.status).toBe(403)
  })
})
