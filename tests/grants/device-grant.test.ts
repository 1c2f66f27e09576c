import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatStatus, createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import {
  CLIENT_ID,
  DEVICE_CODE_GRANT,
  poll,
  postForm,
  refresh,
  requestCodes,
  signInTool,
} from './sign-in-tool.ts'

let gateway: TestGateway
let database: Client
let projectId: string
let person: Person

beforeAll(async () => {
  gateway = await startTestGateway()
  database = new Client({ connectionString: gateway.connectionString, options: '-c search_path=parkway' })
  await database.connect()
  projectId = await createProject(gateway)
  const projects = [{ id: projectId, role: 'member' }]
  person = await joinAccount(gateway, { email: 'ada@example.com', role: 'reader', projects })
})

afterAll(async () => {
  await database.end()
  await gateway.close()
})

const AT = '/v1/device-authorizations'

/** Lets the time pass for all codes. */
async function passSeconds(seconds: number): Promise<void> {
  const earlier = `- make_interval(secs => ${seconds})`
  await database.query(
    `UPDATE device_codes SET polled_at = polled_at ${earlier}, expires_at = expires_at ${earlier}, created_at = created_at ${earlier}`,
  )
}

describe('the metadata', () => {
  test('names the routes by the address that the client asked', async () => {
    const { status, headers, body } = await gateway.request(
      'GET',
      '/.well-known/oauth-authorization-server',
      {
        key: null,
      },
    )
    const at = gateway.baseUrl
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      issuer: at,
      token_endpoint: `${at}/oauth/token`,
      device_authorization_endpoint: `${at}/oauth/device_authorization`,
      revocation_endpoint: `${at}/oauth/revoke`,
      grant_types_supported: expect.arrayContaining([DEVICE_CODE_GRANT, 'refresh_token']),
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
    })
  })

  test('offers no sign-in of tools while there are no people who could approve it', async () => {
    const alone = await startTestGateway({ settings: { PARKWAY_PUBLIC_URL: 'https://ai.example.com/' } })
    const { body } = await alone.request('GET', '/.well-known/oauth-authorization-server', { key: null })
    await alone.close()
    expect([body.issuer, body.device_authorization_endpoint]).toEqual(['https://ai.example.com', undefined])
    expect(body.grant_types_supported).not.toContain(DEVICE_CODE_GRANT)
  })
})

describe('a tool', () => {
  test('gets codes as RFC 8628 wants them', async () => {
    const { status, headers, body } = await postForm(gateway, '/oauth/device_authorization', {
      client_id: CLIENT_ID,
      scope: 'whatever',
    })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      device_code: expect.stringMatching(/^pd-[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${gateway.baseUrl}/device`,
      verification_uri_complete: `${gateway.baseUrl}/device?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    })
  })

  test('is signed in by a person and then works for them in the project', async () => {
    const { deviceCode, userCode } = await requestCodes(gateway)
    const early = await poll(gateway, deviceCode)
    expect([early.status, early.body.error]).toEqual([400, 'authorization_pending'])
    const typed = userCode.toLowerCase().replace('-', ' ')
    const found = await person.request('POST', `${AT}/find`, { user_code: typed })
    expect([found.status, found.body]).toEqual([
      200,
      expect.objectContaining({
        user_code: userCode,
        client_id: CLIENT_ID,
        status: 'pending',
        is_same_address: true,
      }),
    ])
    const approved = await person.request('POST', `${AT}/approve`, {
      user_code: userCode,
      project_id: projectId,
    })
    expect([approved.status, approved.body.status]).toEqual([200, 'approved'])
    const { status, body, headers } = await poll(gateway, deviceCode)
    expect([status, headers.get('cache-control'), body.token_type, body.expires_in]).toEqual([
      200,
      'no-store',
      'Bearer',
      3600,
    ])
    expect(await chatStatus(gateway, body.access_token)).toBe(200)
    const { body: grants } = await person.request('GET', '/v1/grants')
    expect(grants.data).toEqual([
      expect.objectContaining({
        id: approved.body.grant_id,
        client_id: CLIENT_ID,
        project: { id: projectId, name: 'Search' },
      }),
    ])
    const { body: log } = await gateway.request(
      'GET',
      '/v1/organization/audit_logs?event_types[]=grant.created',
    )
    expect(log.data[0]).toMatchObject({
      type: 'grant.created',
      actor: { session: { user: { email: person.email } } },
    })
  })

  test('works in the environment of the person who signed it in, also after it refreshed its token', async () => {
    const { body: inProd } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'prod', env: 'prod' },
    })
    const invited = await joinAccount(gateway, { email: 'prod@example.com', role: 'owner', key: inProd.key })
    const tool = await signInTool(gateway, invited, projectId)
    const renewed = (await refresh(gateway, tool.refreshToken)).body.access_token
    // Only keys of dev and test may use the sandbox, which is all that this gateway has.
    expect([await chatStatus(gateway, tool.accessToken), await chatStatus(gateway, renewed)]).toEqual([
      503, 503,
    ])
  })

  test('gets its tokens once', async () => {
    const { deviceCode, userCode } = await requestCodes(gateway)
    await person.request('POST', `${AT}/approve`, { user_code: userCode })
    const answers = await Promise.all([1, 2, 3].map(() => poll(gateway, deviceCode)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 400, 400])
    expect((await poll(gateway, deviceCode)).body.error).toBe('invalid_grant')
  })

  test('has to ask less often each time it asks too often', async () => {
    const { deviceCode } = await requestCodes(gateway)
    const ask = async () => (await poll(gateway, deviceCode)).body.error
    expect([await ask(), await ask(), await ask()]).toEqual([
      'authorization_pending',
      'slow_down',
      'slow_down',
    ])
    await passSeconds(14)
    expect(await ask()).toBe('slow_down')
    await passSeconds(21)
    expect(await ask()).toBe('authorization_pending')
  })

  test('is told that it was refused, and that its code has expired', async () => {
    const refused = await requestCodes(gateway)
    const denied = await person.request('POST', `${AT}/deny`, { user_code: refused.userCode })
    expect([denied.status, denied.body.status]).toEqual([200, 'denied'])
    expect((await poll(gateway, refused.deviceCode)).body.error).toBe('access_denied')
    expect((await person.request('POST', `${AT}/approve`, { user_code: refused.userCode })).status).toBe(404)
    const late = await requestCodes(gateway)
    await passSeconds(601)
    expect((await person.request('POST', `${AT}/find`, { user_code: late.userCode })).status).toBe(404)
    expect((await poll(gateway, late.deviceCode)).body.error).toBe('expired_token')
  })

  test('does not get the tokens of another client, of a wrong code, or of a code for people', async () => {
    const { deviceCode, userCode } = await requestCodes(gateway)
    await person.request('POST', `${AT}/approve`, { user_code: userCode })
    const wrong = [
      await poll(gateway, deviceCode, 'other-tool'),
      await poll(
        gateway,
        deviceCode.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      ),
      await poll(gateway, userCode),
    ]
    expect(wrong.map(({ body }) => body.error)).toEqual(['invalid_grant', 'invalid_grant', 'invalid_grant'])
    expect((await poll(gateway, deviceCode)).status).toBe(200)
  })

  test.each([
    ['with control characters in its name', { client_id: 'a\u0007b' }, 'invalid_request'],
    ['with a long name', { client_id: 'x'.repeat(201) }, 'invalid_request'],
    ['with a name beyond ASCII', { client_id: 'Сlaude' }, 'invalid_request'],
  ])('%s gets no codes', async (_, fields: Record<string, string>, error) => {
    const answer = await postForm(gateway, '/oauth/device_authorization', fields)
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })

  test('a tool that does not name itself, as Claude Code, gets codes and its tokens', async () => {
    const { status, body } = await postForm(gateway, '/oauth/device_authorization', {})
    expect(status).toBe(200)
    const fields = { grant_type: DEVICE_CODE_GRANT, device_code: body.device_code }
    expect((await postForm(gateway, '/oauth/token', fields)).body.error).toBe('authorization_pending')
    const named = { ...fields, client_id: 'another' }
    expect((await postForm(gateway, '/oauth/token', named)).body.error).toBe('invalid_grant')
  })

  test('without a code gets an error', async () => {
    const grant_type = DEVICE_CODE_GRANT
    for (const fields of [{ grant_type }, { grant_type, client_id: 'x' }]) {
      const { status, body } = await postForm(gateway, '/oauth/token', fields)
      expect([status, body.error]).toEqual([400, 'invalid_request'])
    }
  })
})
