import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, until } from '../app/call.ts'
import { createWorkplace, type Program, type Workplace } from '../app/workplace.ts'

const KEY = 'pk-dev-RolesRolesRolesRolesRolesRolesRolesRoles'

let database: TestDatabase
let workplace: Workplace
beforeAll(async () => {
  database = await createTestDatabase()
  workplace = createWorkplace()
})
afterAll(async () => {
  await workplace.clean()
  await database.drop()
})

function start(words: string[]): Program {
  return workplace.start(['serve', ...words], {
    environment: {
      DATABASE_URL: database.connectionString,
      PARKWAY_BOOTSTRAP_KEY: KEY,
      PARKWAY_DATABASE_POOL_SIZE: '4',
      LOG_LEVEL: 'warn',
    },
  })
}

test('the API accepts tasks without a worker, and a worker that starts later does them', async () => {
  const api = start(['--role', 'api'])
  const { url } = await api.ready()
  const body = { model: 'flux-schnell', prompt: 'A cube' }
  const made = await call('POST', `${url}/v1/images/generations`, { key: KEY, body })
  expect(made.status).toBe(202)
  const read = async () => (await call('GET', `${url}/v1/tasks/${made.body.id}`, { key: KEY })).body
  expect(await read()).toMatchObject({ status: 'pending', queue_position: 0 })
  expect((await call('GET', `${url}/readyz`)).body.checks).not.toHaveProperty('worker')

  const worker = start(['--role', 'worker', '--processes', '2'])
  const workerUrl = await worker.waitForOutput(
    (text) => /worker is ready.*(http:\S+)\/readyz/.exec(text)?.[1],
  )
  await until(async () => (await read()).status === 'completed')

  const ready = await call('GET', `${workerUrl}/readyz`)
  expect([ready.status, ready.body.checks.worker.status]).toEqual([200, 'ok'])
  expect((await call('GET', `${workerUrl}/healthz`)).status).toBe(200)
  expect((await call('GET', `${workerUrl}/v1/models`, { key: KEY })).status).toBe(404)

  for (const program of [worker, api]) {
    program.kill('SIGTERM')
    expect((await program.exited).code).toBe(0)
  }
})

test('an unknown role is refused before anything starts', async () => {
  const { code, stderr } = await workplace.run(['serve', '--role', 'boss'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('one of all, api, worker')])
})
