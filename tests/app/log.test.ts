import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, chatBody, openStream } from './call.ts'
import { createWorkplace, type Program, type Workplace } from './workplace.ts'

const SECRET = 'NobodyMayReadThisInAnyLogWhatsoever'
const KEY = `pk-dev-${SECRET}`
const PROMPT = 'the-quiet-word'

let workplace: Workplace
let database: TestDatabase

beforeAll(async () => {
  workplace = createWorkplace()
  database = await createTestDatabase()
})
afterAll(async () => {
  await workplace.clean()
  await database.drop()
})

/** Sends prompts and keys in valid and invalid requests of every kind, and returns the program with its output and log. */
async function provoke(settings: Record<string, string>): Promise<Program> {
  const environment = { DATABASE_URL: database.connectionString, PARKWAY_BOOTSTRAP_KEY: KEY, ...settings }
  const program = workplace.start(['serve'], { environment })
  const { url } = await program.ready()
  const path = `${url}/v1/chat/completions`
  await call('POST', path, { key: KEY, body: chatBody(`${PROMPT}, whole`) })
  await (
    await openStream(url, KEY, `${PROMPT}, streamed`)
  ).text
  await call('POST', path, { key: KEY, body: chatBody(`${PROMPT} [[sandbox:error status=500]]`) })
  await (await openStream(url, KEY, `${PROMPT} [[sandbox:cut after=2]]`)).text.catch(() => '')
  await call('POST', path, { key: KEY, body: { model: PROMPT, messages: [] } })
  await call('POST', `${path}?key=${SECRET}`, { key: `pk-dev-${SECRET}-wrong`, body: chatBody(PROMPT) })
  await call('GET', `${url}/${SECRET}/${PROMPT}`, { key: KEY })
  const created = await call('POST', `${url}/v1/tenants/me/api-keys`, { key: KEY, body: { name: 'another' } })
  expect(created.status).toBe(201)
  await call('GET', `${url}/v1/tenants/me`, { key: created.body.key })
  program.kill('SIGTERM')
  expect(await program.exited).toMatchObject({ code: 0 })
  expect(program.log.filter(({ msg }) => msg === 'request')).toHaveLength(9)
  expect(program.stdout + program.stderr).not.toContain(created.body.key)
  return program
}

it('the log has neither prompts nor keys', async () => {
  const { stdout, stderr } = await provoke({ LOG_LEVEL: 'debug' })
  expect(stdout + stderr).not.toContain(PROMPT)
  expect(stdout + stderr).not.toContain(SECRET)
})

it('the log has prompts, and still no keys, if the operator enables it', async () => {
  const program = await provoke({ PARKWAY_LOG_PROMPTS: 'true' })
  const prompts = program.log.filter(({ prompt }) => String(prompt).includes(PROMPT))
  expect(prompts.map(({ route }) => route)).toEqual(Array.from({ length: 5 }, () => '/v1/chat/completions'))
  expect(program.stdout + program.stderr).not.toContain(SECRET)
})
