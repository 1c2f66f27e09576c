import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { joinAccount } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startIdentityProvider, type IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { addProvider, callbackOf, signInWithProvider } from './sign-in-with-provider.ts'

let gateway: TestGateway
let server: IdentityProviderServer
let accountId: string
let providerId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  server = await startIdentityProvider({ redirectUris: [callbackOf(gateway)] })
  accountId = (await gateway.request('GET', '/v1/tenants/me')).body.id
  providerId = await addProvider(gateway, server, everybody())
  for (const name of ['ada', 'eve', 'bob']) server.people.set(name, personOf(name))
})
afterAll(async () => {
  await server.close()
  await gateway.close()
})

const everybody = (settings = {}) => ({
  account_rule: 'fixed',
  accounts: [{ account_id: accountId }],
  makes_members: true,
  member_role: 'auditor',
  ...settings,
})
const personOf = (name: string, claims = {}) => ({
  email: `${name}@acme.example`,
  email_verified: true,
  ...claims,
})
const signIn = (login: string, query = '') => signInWithProvider(gateway, { providerId, login, query })

describe('a member whom nobody signed in with the provider', () => {
  test('is not taken over by somebody with the same address', async () => {
    const member = await joinAccount(gateway, { email: 'grace@acme.example', role: 'owner' })
    server.people.set('grace', personOf('grace'))
    expect((await signIn('grace')).problem).toBe('no_account')
    expect((await member.request('GET', '/v1/sessions/current')).status).toBe(200)
  })

  test('signs in where the provider speaks for the domain and the account, and only the first subject does', async () => {
    const linking = await addProvider(
      gateway,
      server,
      everybody({ links_members: true, allowed_domains: ['acme.example'] }),
    )
    const { ask } = await signInWithProvider(gateway, { providerId: linking, login: 'grace' })
    expect((await ask('GET', '/v1/sessions/current')).body.user.role).toBe('owner')
    server.people.set('impostor', personOf('grace'))
    const { problem } = await signInWithProvider(gateway, { providerId: linking, login: 'impostor' })
    expect(problem).toBe('no_account')
    const other = await addProvider(
      gateway,
      server,
      everybody({ links_members: true, allowed_domains: ['acme.example'] }),
    )
    expect((await signInWithProvider(gateway, { providerId: other, login: 'grace' })).problem).toBe(
      'no_account',
    )
  })
})

describe('accounts', () => {
  const createAccount = async (name: string): Promise<string> =>
    (await gateway.request('POST', '/v1/admin/accounts', { body: { name } })).body.id

  test('are found by domain, by group, and by invitation', async () => {
    const [north, south] = [await createAccount('North'), await createAccount('South')]
    server.people.set('nora', { email: 'nora@north.example', email_verified: true, groups: ['Southerners'] })
    const enter = async (settings: object): Promise<string | null> => {
      const id = await addProvider(gateway, server, { ...everybody(), ...settings })
      const { ask, problem } = await signInWithProvider(gateway, { providerId: id, login: 'nora' })
      return problem ?? (await ask('GET', '/v1/sessions/current')).body.account.name
    }
    const accounts = (match: string) => [
      { account_id: north, match },
      { account_id: south, match: 'elsewhere' },
    ]
    expect(await enter({ account_rule: 'domain', accounts: accounts('north.example') })).toBe('North')
    expect(await enter({ account_rule: 'domain', accounts: accounts('other.example') })).toBe('no_account')
    const bySouth = [{ account_id: south, match: 'Southerners' }]
    expect(await enter({ account_rule: 'group', accounts: bySouth })).toBe('South')
    const invited = { account_rule: 'invited', accounts: [], makes_members: false }
    expect(await enter(invited)).toBe('no_account')
    await gateway.request('POST', '/v1/organization/invites', {
      body: { email: 'Nora@North.example', role: 'billing' },
    })
    expect(await enter(invited)).toBe('First account')
    expect(await enter({ account_rule: 'own', accounts: [], makes_members: false })).toBe(
      'nora@north.example',
    )
  })

  test('whoever leaves the group does not enter the account any more', async () => {
    const west = await createAccount('West')
    const id = await addProvider(gateway, server, {
      ...everybody(),
      account_rule: 'group',
      accounts: [{ account_id: west, match: 'Westerners' }],
    })
    server.people.set('wes', personOf('wes', { groups: ['Westerners'] }))
    expect((await signInWithProvider(gateway, { providerId: id, login: 'wes' })).problem).toBeNull()
    server.people.set('wes', personOf('wes', { groups: [] }))
    expect((await signInWithProvider(gateway, { providerId: id, login: 'wes' })).problem).toBe('no_account')
  })
})

describe('settings that would let anybody in', () => {
  test.each([
    ['an issuer without encryption', { issuer: 'http://login.acme.com' }, 'issuer'],
    ['an issuer with a password', { issuer: 'https://a:b@login.acme.com' }, 'issuer'],
    ['no domains and no proof of addresses', { needs_verified_email: false }, 'allowed_domains'],
    ['members linked without a domain', { links_members: true }, 'links_members'],
    ['members made of everybody who is invited', { makes_members: true }, 'makes_members'],
    [
      'operators by groups that nobody reads',
      { operator_groups: ['Ops'], groups_claim: null },
      'groups_claim',
    ],
  ])('are refused: %s', async (_, settings, param) => {
    const { status, body } = await gateway.request('POST', '/v1/admin/identity-providers', {
      body: { name: 'Wrong', issuer: server.issuer, client_id: 'x', ...settings },
    })
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('the secret of a client is never shown, and is stored sealed', async () => {
    const { body } = await gateway.request('GET', '/v1/admin/identity-providers')
    expect(body.data[0].has_client_secret).toBe(true)
    expect(JSON.stringify(body)).not.toContain(server.clientSecret)
  })
})
