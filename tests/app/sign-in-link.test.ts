import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call } from './call.ts'
import { createWorkplace, type Workplace } from './workplace.ts'

let workplace: Workplace
let database: TestDatabase
let environment: Record<string, string>

beforeAll(async () => {
  workplace = createWorkplace()
  database = await createTestDatabase()
  environment = { DATABASE_URL: database.connectionString }
})
afterAll(async () => {
  await workplace.clean()
  await database.drop()
})

const codeOf = (link: string): string => /#code=([\w-]{43})\n$/.exec(link)?.[1] ?? ''

describe('parkway sign-in-link', () => {
  it('fails before the first start, because there is no account', async () => {
    const empty = await createTestDatabase()
    const none = await workplace.run(['sign-in-link'], {
      environment: { DATABASE_URL: empty.connectionString },
    })
    expect(none).toMatchObject({ code: 1, stdout: '' })
    expect(none.stderr).toMatch(/^parkway: There is no key with the scope admin/)
    await empty.drop()
  })

  it('prints a link that signs in once and replaces the links before it, at the public address', async () => {
    const program = workplace.start(['serve'], { environment })
    const { url, key } = await program.ready()
    const printed = /#code=([\w-]{43})\b/.exec(program.stderr)?.[1] ?? ''
    const made = await workplace.run(['sign-in-link', '--url', url], { environment })
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/\/sign-in#code=[\w-]{43}\n$/) })
    expect(made.stdout).toContain(`${url}/sign-in#`)
    const signIn = (code: string) => call('POST', `${url}/v1/sessions`, { body: { code } })
    expect((await signIn(printed)).status).toBe(401)
    expect((await signIn(codeOf(made.stdout))).status).toBe(201)
    expect((await signIn(codeOf(made.stdout))).status).toBe(401)

    // Its key is that of the operator that has not been revoked.
    const { body: first } = await call('GET', `${url}/v1/sessions`, { key })
    const { body: second } = await call('POST', `${url}/v1/tenants/me/api-keys`, {
      key,
      body: { scopes: ['inference', 'manage', 'admin'] },
    })
    await call('DELETE', `${url}/v1/tenants/me/api-keys/${first.sessions[0].key_id}`, { key })
    const again = await workplace.run(['sign-in-link'], { environment })
    const session = await signIn(codeOf(again.stdout))
    expect([session.status, session.body.key_id]).toEqual([201, second.id])
    program.kill('SIGTERM')
    await program.exited

    const settings = { ...environment, PARKWAY_PUBLIC_URL: 'https://gateway.example.com/' }
    const { stdout } = await workplace.run(['sign-in-link'], { environment: settings })
    expect(stdout).toMatch(/^https:\/\/gateway\.example\.com\/sign-in#code=[\w-]{43}\n$/)
  })

  it('refuses an address that is none', async () => {
    const wrong = await workplace.run(['sign-in-link', '--url', 'gateway'], { environment })
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
  })

  it('a first start with a key that the operator chose prints no link', async () => {
    const other = await createTestDatabase()
    const program = workplace.start(['serve'], {
      environment: {
        DATABASE_URL: other.connectionString,
        PARKWAY_BOOTSTRAP_KEY: 'pk-dev-TestTestTestTestTestTestTestTestTestTest',
      },
    })
    const { url } = await program.ready()
    expect(program.stderr).toContain(`Console    ${url}   (`)
    expect(program.stderr).not.toContain('#code')
    program.kill('SIGTERM')
    await program.exited
    await other.drop()
  })
})
