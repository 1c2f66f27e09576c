import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'

/** A recorded request of Claude Code. Words in braces stand for what the gateway gave it. */
interface Recorded {
  readonly method?: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly form?: Record<string, string>
  readonly protobuf?: string
  readonly body?: object
}

let gateway: TestGateway
let database: Client
let person: Person
let login: Record<string, Recorded>
let message: Recorded

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '1000' } })
  database = new Client({ connectionString: gateway.connectionString, options: '-c search_path=parkway' })
  await database.connect()
  const projects = [{ id: await createProject(gateway), role: 'member' }]
  person = await joinAccount(gateway, { email: 'ada@example.com', role: 'reader', projects })
  const read = async (name: string) =>
    JSON.parse(await readFile(new URL(`../clients/fixtures/${name}.json`, import.meta.url), 'utf8'))
  login = await read('claude-code-login')
  message = await read('claude-code')
})

afterAll(async () => {
  await database.end()
  await gateway.close()
})

/** Sends a recorded request with what the gateway gave before. No redirect is followed, as the program follows none to another host. */
async function send(
  recorded: Recorded | undefined,
  given: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<TestAnswer> {
  if (recorded === undefined) throw new Error('not recorded')
  const fill = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '')
  const { method = 'POST', path, form, protobuf, body } = recorded
  const sent =
    protobuf !== undefined
      ? new Uint8Array(Buffer.from(protobuf, 'base64'))
      : form !== undefined
        ? fill(new URLSearchParams(form).toString().replaceAll('%7B', '{').replaceAll('%7D', '}'))
        : body && JSON.stringify(body)
  const filled = Object.fromEntries(
    Object.entries(recorded.headers).map(([name, value]) => [name, fill(value)]),
  )
  const answer = await fetch(gateway.baseUrl + path, {
    method,
    redirect: 'error',
    headers: { ...filled, ...headers },
    ...(sent !== undefined && { body: sent }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') === true
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
}

test('Claude Code signs in, works, refreshes its token and signs out, with the requests that it sends', async () => {
  const { status, body: metadata } = await send(login['metadata'])
  expect(status).toBe(200)
  // It uses those of the same origin only.
  for (const name of ['device_authorization', 'token', 'revocation'])
    expect(new URL(metadata[`${name}_endpoint`]).origin).toBe(new URL(gateway.baseUrl).origin)

  const { body: codes } = await send(login['device'])
  expect(codes.verification_uri_complete).toContain(codes.user_code)
  const poll = () => send(login['poll'], { device_code: codes.device_code })
  const [early, tooOften] = [await poll(), await poll()]
  expect([early.status, early.body.error]).toEqual([400, 'authorization_pending'])
  expect([tooOften.status, tooOften.body.error]).toEqual([400, 'slow_down'])
  const at = '/v1/device-authorizations'
  const found = await person.request('POST', `${at}/find`, { user_code: codes.user_code })
  expect(found.body).toMatchObject({ status: 'pending', user_agent: 'claude-code/2.1.327' })
  await person.request('POST', `${at}/approve`, { user_code: codes.user_code })
  const { status: signedIn, body: tokens } = await poll()
  expect([signedIn, tokens]).toEqual([
    200,
    {
      access_token: expect.stringMatching(/^pt-/),
      refresh_token: expect.stringMatching(/^pr-/),
      token_type: 'Bearer',
      expires_in: 3600,
      // It shows this address, and asks whether it is the right one.
      email: 'ada@example.com',
    },
  ])
  expect((await poll()).body.error).toBe('invalid_grant')

  await works(tokens)
  await takesSettings(tokens)

  const refreshed = await send(login['refresh'], tokens)
  expect([refreshed.status, refreshed.body]).toEqual([
    200,
    { ...tokens, access_token: expect.any(String), refresh_token: expect.any(String), email: undefined },
  ])
  const fresh = refreshed.body
  expect([fresh.access_token === tokens.access_token, fresh.refresh_token === tokens.refresh_token]).toEqual([
    false,
    false,
  ])
  await works(fresh)

  expect((await send(login['revokeAccess'], fresh)).status).toBe(200)
  const refused = await send(login['settings'], fresh)
  expect([
    refused.status,
    refused.headers.get('x-should-retry'),
    refused.body.type,
    refused.body.error.type,
  ]).toEqual([401, 'false', 'error', 'authentication_error'])
  expect((await send(login['revokeRefresh'], fresh)).status).toBe(200)
  const ended = await send(login['refresh'], fresh)
  expect([ended.status, ended.body.error]).toEqual([401, 'invalid_grant'])
})

/** What it asks with its token. */
async function works(tokens: Record<string, string>): Promise<void> {
  const models = await send(login['models'], tokens)
  expect([models.status, models.body]).toMatchObject([200, { has_more: false, first_id: expect.any(String) }])
  const claude = models.body.data.find(({ id }: { id: string }) => id.startsWith('claude-'))
  expect(claude).toMatchObject({ type: 'model', display_name: expect.any(String) })

  const headers = { authorization: `Bearer ${tokens['access_token']}` }
  const answer = await send(message, tokens, headers)
  expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('event: message_stop')])
  const { model, messages, tools, system } = Object(message.body)
  const counted = await send(
    {
      ...message,
      path: '/v1/messages/count_tokens?beta=true',
      body: { model, messages, tools, system },
    },
    tokens,
    headers,
  )
  expect([counted.status, counted.body]).toEqual([200, { input_tokens: expect.any(Number) }])

  for (const signal of ['metrics', 'logs', 'traces']) {
    const recorded = login[signal === 'metrics' ? 'metrics' : 'logs']
    const exported = await send(recorded && { ...recorded, path: `/v1/${signal}` }, tokens)
    expect([exported.status, exported.headers.get('content-type'), exported.body]).toEqual([
      200,
      'application/x-protobuf',
      '',
    ])
  }
}

/** No policy, then one, then the same again. */
async function takesSettings(tokens: Record<string, string>): Promise<void> {
  const none = await send(login['settings'], tokens)
  expect([none.status, none.body.type, none.body.error.type]).toEqual([404, 'error', 'not_found_error'])
  const settings = { env: { CLAUDE_CODE_ENABLE_TELEMETRY: '1' } }
  await gateway.request('POST', '/v1/organization/managed_settings', { body: { settings } })
  const served = await send(login['settings'], tokens)
  const { checksum } = served.body
  expect([served.status, served.body]).toEqual([200, { uuid: checksum, checksum, settings }])
  const again = await send(login['settings'], tokens, { 'if-none-match': `"${checksum}"` })
  expect([again.status, again.headers.get('etag')]).toEqual([304, `"${checksum}"`])
}

test('Claude Code is told with 401 that its refresh token was used twice, or that its person has left', async () => {
  const signIn = async () => {
    const { body: codes } = await send(login['device'])
    await person.request('POST', '/v1/device-authorizations/approve', { user_code: codes.user_code })
    return (await send(login['poll'], { device_code: codes.device_code })).body
  }
  const [stolen, left] = [await signIn(), await signIn()]
  await send(login['refresh'], stolen)
  await database.query(`UPDATE refresh_tokens SET used_at = used_at - interval '31 seconds'`)
  const reused = await send(login['refresh'], stolen)
  expect([reused.status, reused.body.error]).toEqual([401, 'invalid_grant'])
  await gateway.request('DELETE', `/v1/organization/users/${person.id}`)
  const gone = await send(login['refresh'], left)
  expect([gone.status, gone.body.error]).toEqual([401, 'invalid_grant'])
})
