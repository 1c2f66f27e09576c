import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { createProject, createProjectKey, joinAccount } from '../organization/join-account.ts'
import { job, startExchangeStage, type ExchangeStage } from './exchange-stage.ts'

let stage: ExchangeStage

beforeAll(async () => {
  stage = await startExchangeStage()
})

afterAll(() => stage.close())

beforeEach(() => stage.forgetIssuers())

describe('whoever trusts an issuer', () => {
  test('sees it, changes it and removes it', async () => {
    const id = await stage.trust()
    const { body: list } = await stage.gateway.request('GET', stage.issuersOf())
    expect(list.data.find((one: { id: string }) => one.id === id)).toMatchObject({
      object: 'organization.project.trusted_issuer',
      algorithms: ['RS256', 'ES256'],
      jwks: null,
      rules: [
        { lifetime_seconds: 600, env: 'prod', once: false, service_account_id: stage.serviceAccountId },
      ],
    })
    const { body: changed } = await stage.gateway.request('POST', `${stage.issuersOf()}/${id}`, {
      body: { audience: 'https://other.example.com' },
    })
    expect(changed).toMatchObject({ id, audience: 'https://other.example.com', issuer: stage.actions.url })
    await stage.expectRefused(id, await stage.actions.sign(job()))
    expect((await stage.gateway.request('DELETE', `${stage.issuersOf()}/${id}`)).body).toMatchObject({
      id,
      deleted: true,
    })
    expect((await stage.gateway.request('DELETE', `${stage.issuersOf()}/${id}`)).status).toBe(404)
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
    ['an environment that there is not', rule({ sub: 'a' }, { env: 'qa' })],
    ['a longer life than an hour', rule({ sub: 'a' }, { lifetime_seconds: 3601 })],
  ])('gets an error for %s', async (_name, members) => {
    const text = JSON.stringify(stage.draft(members)).replaceAll('set below', stage.serviceAccountId)
    const { status, body } = await stage.gateway.request('POST', stage.issuersOf(), { body: text })
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error'])
  })

  test('needs a service account of the same project', async () => {
    const other = await stage.createServiceAccount(await createProject(stage.gateway))
    const rules = [{ claims: { sub: 'a' }, service_account_id: other }]
    expect(
      (await stage.gateway.request('POST', stage.issuersOf(), { body: stage.draft({ rules }) })).status,
    ).toBe(404)
  })

  test('is of the account, manages keys, and cannot give what they lack', async () => {
    const stranger = await createStranger(stage.gateway)
    const at = { key: stranger }
    expect((await stage.gateway.request('GET', stage.issuersOf(), at)).status).toBe(404)
    expect(
      (await stage.gateway.request('POST', stage.issuersOf(), { ...at, body: stage.draft() })).status,
    ).toBe(404)
    const id = await stage.trust()
    expect((await stage.gateway.request('DELETE', `${stage.issuersOf()}/${id}`, at)).status).toBe(404)
    const member = await joinAccount(stage.gateway, {
      email: 'member@example.com',
      projects: [{ id: stage.projectId, role: 'member' }],
    })
    expect((await member.request('POST', stage.issuersOf(), stage.draft())).status).toBe(403)
    const elsewhere = await createProjectKey(stage.gateway, await createProject(stage.gateway))
    expect((await stage.gateway.request('GET', stage.issuersOf(), { key: elsewhere })).status).toBe(404)
    // A token of a machine makes no further stage.trust.
    const owner = await stage.createServiceAccount(stage.projectId)
    await stage.gateway.request(
      'POST',
      `/v1/organization/projects/${stage.projectId}/service_accounts/${owner}`,
      {
        body: { role: 'owner' },
      },
    )
    const rules = [{ claims: { repository: 'acme/site' }, service_account_id: owner }]
    const { body } = await stage.exchange(await stage.trust({ rules }), await stage.actions.sign(job()))
    const made = await stage.gateway.request('POST', stage.issuersOf(), {
      key: body['access_token'] ?? '',
      body: stage.draft(),
    })
    expect(made.status).toBe(403)
  })
})
