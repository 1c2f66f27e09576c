import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, chatBody } from './call.ts'
import { createWorkplace, type Finished, type Workplace } from './workplace.ts'

const PROGRAM = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
const KEY_LINE = /^(pk-[a-z]+-[A-Za-z0-9]{43})\n$/

let workplace: Workplace

beforeAll(() => {
  workplace = createWorkplace()
})
afterAll(() => workplace.clean())

function keyOf({ code, stdout, stderr }: Finished): string {
  expect(stderr).toMatch(/^A key of account [0-9a-f-]{36} for .*, shown this once: keep it\.\n$/)
  expect([code, stdout]).toEqual([0, expect.stringMatching(KEY_LINE)])
  return stdout.trim()
}

it('a key is created without another key, while the embedded gateway runs and while it does not', async () => {
  await workplace.prepareDatabase()
  const first = workplace.start(['serve'])
  const { url } = await first.ready()
  const key = keyOf(await workplace.run(['admin-key', 'create', '--name', 'Found again']))
  expect(key).toMatch(/^pk-dev-/)
  const { body } = await call('GET', `${url}/v1/tenants/me/api-keys`, { key })
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Found again', 'First key'])
  // The new key replaces the first key, so it has the same rights.
  const audit = await call('GET', `${url}/v1/admin/audit`, { key })
  expect(audit.body.data[0]).toMatchObject({
    action: 'api_key.create',
    outcome: 'done',
    details: { name: 'Found again', env: 'dev', by: 'command line' },
  })
  expect(JSON.stringify(audit.body)).not.toContain(key)
  first.kill('SIGTERM')
  await first.exited

  const live = keyOf(await workplace.run(['admin-key', 'create', '--scopes', 'inference', '--env', 'test']))
  expect(live).toMatch(/^pk-test-/)
  const second = workplace.start(['serve'])
  const again = await second.ready()
  const answer = await call('POST', `${again.url}/v1/chat/completions`, { key: live, body: chatBody('Hi') })
  expect(answer.status).toBe(200)
  expect((await call('POST', `${again.url}/v1/tenants/me/api-keys`, { key: live, body: {} })).status).toBe(
    403,
  )
  second.kill('SIGTERM')
  await second.exited
})

describe('in the database of DATABASE_URL', () => {
  let database: TestDatabase
  let environment: Record<string, string>

  beforeAll(async () => {
    database = await createTestDatabase()
    environment = { DATABASE_URL: database.connectionString }
  })
  afterAll(() => database.drop())

  it('a start whose port is taken creates no account, so the next one prints the first key', async () => {
    const none = await workplace.run(['admin-key', 'create'], { environment })
    expect(none).toMatchObject({ code: 1, stdout: '' })
    expect(none.stderr).toMatch(/^parkway: There is no account yet: the first start/)

    const busy = createServer().listen(0, '127.0.0.1')
    await once(busy, 'listening')
    const address = busy.address()
    const port = String(typeof address === 'object' && address !== null ? address.port : 0)
    const failed = await workplace.run(['serve'], { environment: { ...environment, PORT: port } })
    expect(failed).toMatchObject({ code: 1, stdout: expect.not.stringContaining('pk-') })
    expect(failed.stderr).toContain('EADDRINUSE')
    busy.close()

    const program = workplace.start(['serve'], { environment })
    const { url, key } = await program.ready()
    expect(key).toMatch(/^pk-dev-/)
    const account = await call('GET', `${url}/v1/tenants/me`, { key })
    expect(account).toMatchObject({ status: 200, body: { balance_usd: 10 } })
    const made = await call('POST', `${url}/v1/admin/accounts`, { key, body: { name: 'Guest' } })

    // The earlier name of the command, in the program that has a client command of the same name.
    const words = ['keys', 'create', '--account', made.body.id]
    const guest = keyOf(await workplace.run(words, { environment, main: PROGRAM }))
    const me = await call('GET', `${url}/v1/tenants/me`, { key: guest })
    expect([me.status, me.body.id]).toEqual([200, made.body.id])
    // Only the first account is the operator's.
    expect((await call('GET', `${url}/v1/admin/audit`, { key: guest })).status).toBe(403)
    const nobody = await workplace.run(['admin-key', 'create', '--account', crypto.randomUUID()], {
      environment,
    })
    expect(nobody).toMatchObject({ code: 1, stdout: '' })
    program.kill('SIGTERM')
    await program.exited
  })
})
