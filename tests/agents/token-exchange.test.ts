import { exportSPKI, importJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chatStatus, createProject } from '../organization/join-account.ts'
import { ACCESS_TOKEN, AUDIENCE, job, startExchangeStage, type ExchangeStage } from './exchange-stage.ts'
import { startIssuerServer } from './issuer-server.ts'

let stage: ExchangeStage

beforeAll(async () => {
  stage = await startExchangeStage()
})

afterAll(() => stage.close())

beforeEach(() => stage.forgetIssuers())

describe('a token of a CI system', () => {
  test('becomes a token of the service account that its rule names', async () => {
    const { status, body, headers } = await stage.exchange(
      await stage.trust(),
      await stage.actions.sign(job()),
    )
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
    const { body: held } = await stage.permissions(body['access_token'] ?? '')
    expect(held).toMatchObject({
      service_account_id: stage.serviceAccountId,
      project_id: stage.projectId,
      user_id: null,
    })
    expect(
      (await stage.gateway.request('GET', '/v1/models', { key: body['access_token'] ?? '' })).status,
    ).toBe(200)
    const { body: log } = await stage.gateway.request('GET', '/v1/organization/audit_logs?limit=1')
    expect(log.data[0]).toMatchObject({
      type: 'token.exchanged',
      'token.exchanged': {
        id: stage.serviceAccountId,
        data: { subject: 'repo:acme/site:environment:production' },
      },
    })
    const { body: metrics } = await stage.gateway.request('GET', '/metrics')
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
    const issuer = name === 'an issuer with a slash more' ? { iss: `${stage.actions.url}/` } : {}
    await stage.expectRefused(await stage.trust(), await stage.actions.sign(job({ ...members, ...issuer })))
  })

  test('is refused without a signature, or with one that is not of a key of the issuer', async () => {
    const audience = await stage.trust()
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: stage.actions.url, iat: now, exp: now + 600, ...job() }
    for (const alg of ['none', 'None', 'NONE'])
      await stage.expectRefused(audience, `${encode({ alg, typ: 'JWT' })}.${encode(claims)}.`)

    // The public key as the secret of a symmetric signature.
    const { kid, publicJwk } = stage.actions.key()
    const publicKey = await importJWK(publicJwk, 'RS256', { extractable: true })
    if (publicKey instanceof Uint8Array) throw new Error('not a public key')
    const spki = await exportSPKI(publicKey)
    for (const secret of [spki, spki.trim(), JSON.stringify(publicJwk)]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(Buffer.from(secret))
      await stage.expectRefused(audience, forged)
    }

    const [head = '', , signature = ''] = (await stage.actions.sign(job())).split('.')
    await stage.expectRefused(
      audience,
      `${head}.${encode({ ...claims, repository: 'acme/site' })}.${signature}`,
    )
    const other = await startIssuerServer()
    await stage.expectRefused(audience, await other.sign({ ...claims }))
    await other.close()
    for (const text of ['x', 'a.b.c', `${'a'.repeat(20_000)}.b.c`]) await stage.expectRefused(audience, text)
  })

  test('is refused if it is signed with an algorithm that the issuer is not trusted for', async () => {
    const token = await stage.actions.sign(job())
    await stage.expectRefused(await stage.trust({ algorithms: ['ES256', 'PS256'] }), token)
    expect((await stage.exchange(await stage.trust({ algorithms: ['RS256'] }), token)).status).toBe(200)
  })

  test('becomes a token of the environment that its rule names, or of prod', async () => {
    const become = async (env?: string) => {
      const rules = [{ claims: { repository: 'acme/site' }, service_account_id: stage.serviceAccountId, env }]
      const { body } = await stage.exchange(await stage.trust({ rules }), await stage.actions.sign(job()))
      return String(body['access_token'])
    }
    // Only keys of dev and test may use the sandbox, which is all that this gateway has.
    const [prod, dev, again] = [await become(), await become('dev'), await become('test')]
    const statuses = await Promise.all([prod, dev, again].map((token) => chatStatus(stage.gateway, token)))
    expect(statuses).toEqual([503, 200, 200])
    const { body: usage } = await stage.gateway.request('GET', '/v1/usage/records')
    const environments = usage.data.map(({ env }: { env: string }) => env)
    expect(environments.toSorted()).toEqual(['dev', 'test'])
  })

  test('with a rule for once is taken once', async () => {
    const rule = {
      claims: { repository: 'acme/site' },
      service_account_id: stage.serviceAccountId,
      once: true,
    }
    const audience = await stage.trust({ rules: [rule] })
    const token = await stage.actions.sign(job())
    expect((await stage.exchange(audience, token)).status).toBe(200)
    await stage.expectRefused(audience, token)
    await stage.expectRefused(audience, await stage.actions.sign(job({ jti: undefined })))
  })

  test('is refused if the service account was deleted, and so are the tokens it had', async () => {
    const id = await stage.createServiceAccount(stage.projectId)
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id: id }]
    const audience = await stage.trust({ rules })
    const { body } = await stage.exchange(audience, await stage.actions.sign(job()))
    await stage.gateway.request(
      'DELETE',
      `/v1/organization/projects/${stage.projectId}/service_accounts/${id}`,
    )
    expect((await stage.permissions(body['access_token'] ?? '')).status).toBe(401)
    await stage.expectRefused(audience, await stage.actions.sign(job()))
  })

  test('is refused if the project was archived or the issuer removed', async () => {
    const project = await createProject(stage.gateway)
    const id = await stage.createServiceAccount(project)
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id: id }]
    const [removed, kept] = [
      await stage.trust({ rules }, { project }),
      await stage.trust({ rules }, { project }),
    ]
    expect((await stage.gateway.request('DELETE', `${stage.issuersOf(project)}/${removed}`)).status).toBe(200)
    await stage.expectRefused(removed, await stage.actions.sign(job()))
    const { body } = await stage.exchange(kept, await stage.actions.sign(job()))
    await stage.gateway.request('POST', `/v1/organization/projects/${project}/archive`)
    await stage.expectRefused(kept, await stage.actions.sign(job()))
    expect((await stage.permissions(body['access_token'] ?? '')).status).toBe(401)
  })

  test('is refused while the account is suspended, and so are the tokens it had', async () => {
    const { gateway } = stage
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Late' } })
    const { body: root } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { name: 'root' },
    })
    const project = await createProject(gateway, 'Site', root.key)
    const service_account_id = await stage.createServiceAccount(project, root.key)
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id }]
    const audience = await stage.trust({ rules }, { project, key: root.key })
    const before = await stage.exchange(audience, await stage.actions.sign(job()))
    const use = async () =>
      (await gateway.request('GET', '/v1/models', { key: before.body['access_token'] ?? '' })).status
    expect([before.status, await use()]).toEqual([200, 200])
    await gateway.request('POST', `/v1/admin/accounts/${account.id}/suspend`)
    await stage.expectRefused(audience, await stage.actions.sign(job()))
    expect(await use()).toBe(403)
    await gateway.request('POST', `/v1/admin/accounts/${account.id}/activate`)
    expect((await stage.exchange(audience, await stage.actions.sign(job()))).status).toBe(200)
  })

  test('says which fields are wrong, as OAuth does', async () => {
    const audience = await stage.trust()
    const token = await stage.actions.sign(job())
    for (const members of [
      { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      { actor_token: token },
      { audience: '' },
    ]) {
      const { status, body } = await stage.exchange(audience, token, members)
      expect([status, body['error']]).toEqual([400, 'invalid_request'])
    }
    await stage.expectRefused('issuer_00000000000000000000000000000000', token)
    await stage.expectRefused('x', token)
  })
})

describe('a token of a cluster that cannot be reached', () => {
  test('is checked with the keys that were given', async () => {
    const cluster = await startIssuerServer()
    const issuer = 'https://kubernetes.default.svc.cluster.local'
    const claims = { 'kubernetes.io/namespace': 'batch', sub: 'system:serviceaccount:batch:*' }
    const audience = await stage.trust({
      name: 'Cluster',
      issuer,
      jwks: { keys: [cluster.key().publicJwk] },
      rules: [{ claims, service_account_id: stage.serviceAccountId }],
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
    expect((await stage.exchange(audience, await pod())).status).toBe(200)
    await stage.expectRefused(audience, await pod({ sub: 'system:serviceaccount:other:reports' }))
    await stage.expectRefused(audience, await pod({ 'kubernetes.io': { namespace: 'other' } }))
    await stage.expectRefused(audience, await pod({ 'kubernetes.io': 'batch' }))
    expect(cluster.keyReads()).toBe(0)
    await cluster.close()
  })
})
