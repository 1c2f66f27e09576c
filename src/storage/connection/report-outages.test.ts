import { describe, expect, test } from 'vitest'
import { AppError, notFound } from '../../kernel/app-error.ts'
import { silentLogger } from '../../kernel/logger.ts'
import type { Database } from '../database.ts'
import { reportOutages } from './report-outages.ts'
import { StorageError } from '../storage-error.ts'

const away = () => new StorageError('unreachable_database', 'The database cannot be reached: gone')

/** Creates a database whose pings end when and how the test decides. */
function createDatabase() {
  const pings: PromiseWithResolvers<void>[] = []
  const logged: string[] = []
  const log = (_details: object, message: string) => logged.push(message)
  const database = {
    ping: () => {
      const ping = Promise.withResolvers<void>()
      pings.push(ping)
      return ping.promise
    },
  } as unknown as Database
  return {
    database: reportOutages(database, { logger: { ...silentLogger, info: log, error: log } }),
    pings,
    logged,
  }
}

const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: unknown) => (error instanceof AppError ? error.code : 'raw'),
  )

describe('reportOutages', () => {
  test.each([
    ['the server cannot be reached', away()],
    ['the connection is cut', new Error('Connection terminated unexpectedly')],
    ['every connection is busy', new Error('timeout exceeded when trying to connect')],
    ['the statement takes too long', Object.assign(new Error('canceled'), { code: '57014' })],
    ['the disk is full', Object.assign(new Error('no space'), { code: '53100' })],
    ['a conflict never ends', Object.assign(new Error('again'), { code: '40001' })],
  ])('tells a client to retry later when %s', async (_name, error) => {
    const { database, pings } = createDatabase()
    const call = database.ping()
    pings[0]?.reject(error)
    await expect(call).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 2,
      cause: error,
    })
  })

  test.each([
    ['a mistake in a statement', Object.assign(new Error('syntax'), { code: '42601' })],
    ['a transaction that was not committed', new StorageError('not_committed', 'rolled back')],
    ['what the work threw', notFound('key')],
  ])('leaves %s unchanged', async (_name, error) => {
    const { database, pings } = createDatabase()
    const call = database.ping()
    pings[0]?.reject(error)
    await expect(call).rejects.toBe(error)
  })

  test('tells a client to check first if a change may have been made', async () => {
    const { database, pings } = createDatabase()
    const call = database.ping()
    pings[0]?.reject(new StorageError('outcome_unknown', 'lost'))
    await expect(call).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: null,
      mayBeDone: true,
    })
  })

  test('lets one call try while the server is down, and refuses the others at once', async () => {
    const { database, pings, logged } = createDatabase()
    const first = database.ping()
    pings[0]?.reject(away())
    expect(await outcomeOf(first)).toBe('service_unavailable')

    const trying = database.ping()
    expect(await outcomeOf(database.ping())).toBe('service_unavailable')
    expect(pings).toHaveLength(2)
    pings[1]?.resolve()
    expect(await outcomeOf(trying)).toBe('answered')

    const both = [database.ping(), database.ping()]
    for (const ping of pings) ping.resolve()
    expect(await Promise.all(both.map(outcomeOf))).toEqual(['answered', 'answered'])
    expect(logged).toEqual(['the database cannot be reached', 'the database answers again'])
  })
})
