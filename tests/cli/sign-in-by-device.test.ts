import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatStatus, createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { postForm } from '../grants/sign-in-tool.ts'
import { createProxies } from './run-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { KEY, startInTerminal } from './in-terminal.ts'
import { createHome, signIn, type Home } from './run-parkway.ts'

let gateway: TestGateway
let home: Home
let person: Person

beforeAll(async () => {
  gateway = await startTestGateway()
  home = await createHome()
  const id = await createProject(gateway)
  const projects = [{ id, role: 'member' }]
  person = await joinAccount(gateway, { email: 'ada@example.com', role: 'reader', projects })
})
afterAll(async () => {
  await home.remove()
  await gateway.close()
})

const profiles = () => join(home.configDirectory, 'profiles.json')

/** Signs in, while a person approves the code that the program shows. */
async function login() {
  return home.run(['login', '--device', '--url', gateway.baseUrl], {
    onStart: (child) => {
      let shown = ''
      child.stderr?.on('data', (part: Buffer) => {
        const isNew = !/[A-Z]{4}-[A-Z]{4}/.test(shown)
        shown += part.toString('utf8')
        const code = /[A-Z]{4}-[A-Z]{4}/.exec(shown)?.[0]
        if (code !== undefined && isNew)
          void person.request('POST', '/v1/device-authorizations/approve', { user_code: code })
      })
    },
  })
}

async function change(edit: (grant: { refresh_token: string; expires_at: number }) => object): Promise<void> {
  const all = JSON.parse(await readFile(profiles(), 'utf8'))
  all.profiles.default.grant = edit(all.profiles.default.grant)
  await writeFile(profiles(), JSON.stringify(all))
}

test('a person signs the command line in, works with it, and signs it out', async () => {
  const signedIn = await login()
  expect([signedIn.code, signedIn.stdout]).toEqual([0, expect.stringContaining('Signed in to')])
  expect(signedIn.stderr).toContain(`${gateway.baseUrl}/device`)
  expect((await stat(profiles())).mode & 0o777).toBe(0o600)

  const whoami = await home.run(['whoami'])
  expect([whoami.code, whoami.stdout]).toEqual([0, expect.stringContaining('ada@example.com')])
  const token = (await home.run(['token'])).stdout.trim()
  expect([token, await chatStatus(gateway, token)]).toEqual([expect.stringMatching(/^pt-/), 200])

  // It expires soon: many processes ask at once, and one of them refreshes.
  await change((grant) => ({ ...grant, expires_at: Date.now() + 60_000 }))
  const runs = await Promise.all([1, 2, 3].map(() => home.run(['token'])))
  const tokens = new Set(runs.map(({ stdout }) => stdout.trim()))
  expect([runs.map(({ code }) => code), tokens.size, tokens.has(token)]).toEqual([[0, 0, 0], 1, false])
  for (const fresh of tokens) expect(await chatStatus(gateway, fresh)).toBe(200)

  const claude = await home.run(['connect', 'claude-code', '--yes'])
  const settings = JSON.parse(await readFile(join(home.directory, '.claude', 'settings.json'), 'utf8'))
  expect([claude.code, settings.apiKeyHelper, settings.env.ANTHROPIC_AUTH_TOKEN]).toEqual([
    0,
    'parkway token --profile default',
    undefined,
  ])
  const codex = await home.run(['connect', 'codex', '--yes'])
  const config = await readFile(join(home.directory, '.codex', 'config.toml'), 'utf8')
  expect([codex.code, config]).toEqual([
    0,
    expect.stringContaining(
      '[model_providers.parkway.auth]\ncommand = "parkway"\nargs = ["token", "--profile", "default"]',
    ),
  ])
  expect(config).not.toContain('experimental_bearer_token')
  expect((await home.run(['connect', 'openai', '--yes'])).stderr).toContain('--key')

  expect((await home.run(['logout'])).code).toBe(0)
  for (const fresh of tokens) expect(await chatStatus(gateway, fresh)).toBe(401)
  expect(await readFile(profiles(), 'utf8')).not.toContain('pr-')
}, 60_000)

test('whoever was signed out is told to sign in again', async () => {
  await login()
  const { body } = await person.request('GET', '/v1/grants')
  await person.request('DELETE', `/v1/grants/${body.data[0].id}`)
  await change((grant) => ({ ...grant, expires_at: Date.now() }))
  const refused = await home.run(['token'])
  expect([refused.code, refused.stdout, refused.stderr]).toEqual([
    3,
    '',
    expect.stringContaining('parkway login'),
  ])
}, 60_000)

test('a proxy that runs longer than a token lives goes on with the next one', async () => {
  await login()
  const proxies = createProxies()
  try {
    const { url } = await proxies.start(home)
    expect((await fetch(`${url}/v1/models`)).status).toBe(200)
    // An hour later: the token has been refused for a while.
    const before = JSON.parse(await readFile(profiles(), 'utf8')).profiles.default.api_key
    await postForm(gateway, '/oauth/revoke', { token: before })
    expect((await fetch(`${url}/v1/models`)).status).toBe(401)
    await change((grant) => ({ ...grant, expires_at: Date.now() - 1000 }))
    const statuses = await Promise.all([1, 2, 3].map(async () => (await fetch(`${url}/v1/models`)).status))
    expect(statuses).toEqual([200, 200, 200])
  } finally {
    proxies.end()
  }
})

test('a conversation that lasts longer than a token lives goes on with the next one', async () => {
  await login()
  const terminal = startInTerminal(home, ['chat', '--max-tokens', '40'], { columns: 300 })
  const answered = (times: number) =>
    eventually(() => expect(terminal.screen().match(/tokens in, \d+ out/g)?.length).toBe(times))
  try {
    await terminal.waitFor(/^>/m)
    terminal.type(`one${KEY.enter}`)
    await answered(1)
    // An hour later: the token has been refused for a while.
    const before = JSON.parse(await readFile(profiles(), 'utf8')).profiles.default.api_key
    await postForm(gateway, '/oauth/revoke', { token: before })
    await change((grant) => ({ ...grant, expires_at: Date.now() - 1000 }))
    terminal.type(`two${KEY.enter}`)
    await answered(2)
    // The person signs the tool out: the conversation stays, and tells what to do.
    const { body } = await person.request('GET', '/v1/grants')
    for (const { id } of body.data) await person.request('DELETE', `/v1/grants/${id}`)
    await change((grant) => ({ ...grant, expires_at: Date.now() - 1000 }))
    terminal.type(`three${KEY.enter}`)
    await terminal.waitFor('Sign in again with "parkway login"')
    terminal.type(KEY.end)
    expect(await terminal.ended()).toBe(0)
  } finally {
    terminal.kill()
  }
}, 60_000)

test('tools that go back to a key have nothing left of the sign-in', async () => {
  const ofTools = () =>
    Promise.all(
      ['.claude/settings.json', '.codex/config.toml'].map((path) =>
        readFile(join(home.directory, path), 'utf8'),
      ),
    )
  const connectBoth = async () => {
    for (const tool of ['claude-code', 'codex'])
      expect((await home.run(['connect', tool, '--yes'])).code).toBe(0)
  }
  for (const tool of ['claude-code', 'codex']) await home.run(['connect', tool, '--undo'])
  await signIn(home, gateway)
  await connectBoth()
  const withKey = await ofTools()
  for (const tool of ['claude-code', 'codex']) await home.run(['connect', tool, '--undo'])
  await login()
  await connectBoth()
  expect((await ofTools()).map((text) => text.includes('token'))).toEqual([true, true])
  await signIn(home, gateway)
  await connectBoth()
  const [claude = '', codex] = await ofTools()
  expect([JSON.parse(claude), codex]).toEqual([JSON.parse(withKey[0] ?? ''), withKey[1]])
}, 60_000)
