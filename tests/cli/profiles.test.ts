import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { createHome, signIn, type Home } from './run-parkway.ts'

const gateway = await startTestGateway()

afterAll(() => gateway.close())

async function createOwnHome(): Promise<Home> {
  const home = await createHome()
  onTestFinished(() => home.remove())
  return home
}

describe('a profile', () => {
  test('is made by a login with a valid key, readable only for its user, and forgotten by a logout', async () => {
    const home = await createOwnHome()
    const signedIn = await signIn(home, { ...gateway, baseUrl: `${gateway.baseUrl}/v1/` })
    expect([signedIn.code, signedIn.stdout]).toEqual([0, expect.stringContaining(gateway.baseUrl)])
    const path = join(home.configDirectory, 'profiles.json')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const whoami = await home.run(['whoami', '--json'])
    const { body: account } = await gateway.request('GET', '/v1/tenants/me')
    expect(JSON.parse(whoami.stdout)).toMatchObject({ id: account.id, key: account.key })
    expect((await home.run(['logout'])).code).toBe(0)
    expect(await readFile(path, 'utf8')).not.toContain(gateway.key)
    expect((await home.run(['whoami'])).code).toBe(3)
  })

  test('is not made with a wrong key', async () => {
    const home = await createOwnHome()
    const refused = await signIn(home, { ...gateway, key: 'pk-dev-wrong' }, ['--profile', 'wrong'])
    expect([refused.code, refused.stdout]).toEqual([3, ''])
    expect(refused.stderr).toMatch(/Request id: req_/)
    expect((await home.run(['profiles', '--json'])).stdout).toBe('')
  })

  test('is one of several, of which one is current, and shows no key', async () => {
    const home = await createOwnHome()
    await signIn(home, gateway, ['--profile', 'first'])
    await signIn(home, gateway, ['--profile', 'second'])
    const { stdout } = await home.run(['profiles', '--use', 'first', '--json'])
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows).toMatchObject([
      { name: 'first', is_current: true },
      { name: 'second', is_current: false },
    ])
    expect(stdout).not.toContain(gateway.key)
    expect((await home.run(['profiles', '--use', 'third'])).code).toBe(4)
    const missing = await home.run(['whoami', '--profile', 'third'])
    expect([missing.code, missing.stderr]).toEqual([
      3,
      expect.stringContaining('parkway login --profile third'),
    ])
  })

  test('gives way to PARKWAY_API_KEY and PARKWAY_BASE_URL', async () => {
    const home = await createOwnHome()
    await signIn(home, gateway)
    const environment = { PARKWAY_API_KEY: 'pk-dev-wrong', PARKWAY_BASE_URL: gateway.baseUrl }
    expect((await home.run(['whoami'], { environment })).code).toBe(3)
    const valid = { ...environment, PARKWAY_API_KEY: gateway.key }
    expect((await home.run(['whoami'], { environment: valid })).code).toBe(0)
  })

  test('in an unreadable file is reported with the path', async () => {
    const home = await createOwnHome()
    await signIn(home, gateway)
    await writeFile(join(home.configDirectory, 'profiles.json'), '{"profiles": [1')
    const { code, stderr } = await home.run(['whoami'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('profiles.json')])
  })
})

test('env prints variables that a shell takes over as they are', async () => {
  const home = await createOwnHome()
  await signIn(home, gateway)
  const { stdout } = await home.run(['env', '--shell', '/bin/sh'])
  expect(stdout).toContain(`export OPENAI_BASE_URL='${gateway.baseUrl}/v1'\n`)
  expect(stdout).toContain(`export ANTHROPIC_AUTH_TOKEN='${gateway.key}'\n`)
})
