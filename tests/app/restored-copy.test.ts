import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, until } from './call.ts'
import { createWorkplace, type Workplace } from './workplace.ts'

/** A bucket of files that both gateways share, as production and a copy of it would: a directory. */
let origin: Workplace
let copy: Workplace
let originDatabase: TestDatabase
let copyDatabase: TestDatabase

beforeAll(async () => {
  origin = createWorkplace()
  copy = createWorkplace()
  originDatabase = await createTestDatabase()
  copyDatabase = await createTestDatabase()
})
afterAll(async () => {
  await copy.clean()
  await origin.clean()
  await copyDatabase.drop()
  await originDatabase.drop()
})

const of = ({ connectionString }: TestDatabase) => ({ environment: { DATABASE_URL: connectionString } })

describe('a restored copy beside the original', () => {
  it('serves, but does not run the tasks of the original again before it takes over', async () => {
    // A gateway without a worker accepts tasks and leaves them waiting.
    const first = origin.start(['serve', '--role', 'api'], of(originDatabase))
    const { url, key } = await first.ready()
    const picture = { model: 'flux-schnell', prompt: 'A cube' }
    const made = await call('POST', `${url}/v1/images/generations`, { key, body: picture })
    expect(made.status).toBe(202)
    const archive = origin.path('parkway.backup')
    expect((await origin.run(['backup', archive], of(originDatabase))).code).toBe(0)
    const refused = await origin.run(['restore', archive, '--overwrite'], of(originDatabase))
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Gateways are using')])

    const restored = await copy.run(['restore', archive, '--overwrite'], of(copyDatabase))
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining('paused copy')])
    const second = copy.start(['serve'], of(copyDatabase))
    const { url: copyUrl } = await second.ready()
    await second.waitForLog(({ level, msg }) => level === 'warn' && String(msg).includes('restored copy'))
    expect((await call('GET', `${copyUrl}/readyz`)).status).toBe(200)
    const read = async () =>
      (await call('GET', `${copyUrl}/v1/tasks/${made.body.task_id}?wait=1`, { key })).body.status
    expect(await read()).toBe('pending')
    second.kill('SIGTERM')
    await second.exited

    expect((await copy.run(['take-over'], of(copyDatabase))).stdout).toContain('continues the tasks')
    const third = copy.start(['serve'], of(copyDatabase))
    const { url: lastUrl } = await third.ready()
    await until(async () => {
      const { body } = await call('GET', `${lastUrl}/v1/tasks/${made.body.task_id}`, { key })
      return body.status === 'completed'
    })
  })
})

describe('a sealing key', () => {
  it('a sealing key that is another one, or missing, is refused at the start with what to do', async () => {
    const database = await createTestDatabase()
    const place = createWorkplace()
    const start = (key: string) => {
      const { environment } = of(database)
      return { environment: { ...environment, PARKWAY_SEALING_KEY: key } }
    }
    try {
      const first = place.start(['serve'], start('the first key'))
      await first.ready()
      const other = await place.run(['serve'], start('another key'))
      expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('not the one that sealed')])
      const missing = await place.run(['serve'], start(''))
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('sealing.key')])
      first.kill('SIGTERM')
      await first.exited
      expect((await place.run(['forget-sealed'], start(''))).code).toBe(0)
      await place.start(['serve'], start('another key')).ready()
    } finally {
      await place.clean()
      await database.drop()
    }
  })
})
