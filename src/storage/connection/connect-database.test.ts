import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectDatabase } from './connect-database.ts'
import { isConnectionLoss } from './connection-loss.ts'
import type { Database, KeptConnection, Queryable } from '../database.ts'
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 5,
    statementTimeoutMs: 5_000,
  })
  await database.query('CREATE TABLE counters (id int PRIMARY KEY, value bigint NOT NULL)')
  await database.query('INSERT INTO counters VALUES (1, 0), (2, 0)')
})

afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

describe('values', () => {
  test('an int8 is returned as a bigint, beyond the range of a number', async () => {
    const rows = await database.query(
      'SELECT 9007199254740993::int8 AS money, ARRAY[1, NULL]::int8[] AS list',
    )
    expect(rows).toEqual([{ money: 9_007_199_254_740_993n, list: [1n, null] }])
  })

  test('a bigint is passed unchanged', async () => {
    const rows = await database.query('SELECT $1::int8 AS money', [9_007_199_254_740_993n])
    expect(rows).toEqual([{ money: 9_007_199_254_740_993n }])
  })

  test('a timestamp is returned as a Date', async () => {
    const rows = await database.query(`SELECT timestamptz '2026-01-02T03:04:05Z' AS moment`)
    expect(rows).toEqual([{ moment: new Date('2026-01-02T03:04:05Z') }])
  })
})

describe('statements', () => {
  test('the server ends a statement after its timeout', async () => {
    const hasty = connectDatabase({
      connectionString: testDatabase.connectionString,
      poolSize: 1,
      statementTimeoutMs: 50,
    })
    await expect(hasty.query('SELECT pg_sleep(10)')).rejects.toMatchObject({ code: '57014' })
    await hasty.close()
  })

  test('an SQL error keeps its connection in the pool', async () => {
    const single = connectDatabase({
      connectionString: testDatabase.connectionString,
      poolSize: 1,
      statementTimeoutMs: 5_000,
    })
    const [before] = await single.query('SELECT pg_backend_pid() AS pid')
    await expect(single.query('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' })
    expect(await single.query('SELECT pg_backend_pid() AS pid')).toEqual([before])
    await single.close()
  })

  test('prepared statements give the same results and are kept on the server', async () => {
    const prepared = connectDatabase({
      connectionString: testDatabase.connectionString,
      poolSize: 1,
      statementTimeoutMs: 5_000,
      prepareStatements: true,
    })
    const sql = 'SELECT $1::int + 1 AS sum'
    expect(await prepared.query(sql, [1])).toEqual([{ sum: 2 }])
    expect(await prepared.query(sql, [2])).toEqual([{ sum: 3 }])
    expect(
      await prepared.query('SELECT name FROM pg_prepared_statements WHERE statement = $1', [sql]),
    ).toHaveLength(1)
    await prepared.close()
  })

  test('more callers than connections are all served', async () => {
    const rows = await Promise.all(
      Array.from({ length: 50 }, (_, index) => database.query('SELECT $1::int AS n', [index])),
    )
    expect(rows.flat().map((row) => row['n'])).toEqual(Array.from({ length: 50 }, (_, index) => index))
  })

  test('connections that die under load fail only their own queries', async () => {
    const { connectionString } = testDatabase
    const loaded = connectDatabase({ connectionString, poolSize: 8, statementTimeoutMs: 5_000 })
    const stop = new AbortController()
    let answers = 0
    const failures: unknown[] = []
    const ask = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await loaded.query('SELECT 1').then(
          () => (answers += 1),
          (error: unknown) => failures.push(error),
        )
      }
    }
    const askers = Array.from({ length: 16 }, ask)
    for (let round = 1; round <= 20; round += 1) {
      await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
      const answersByThen = answers
      await expect.poll(() => answers, { interval: 1 }).toBeGreaterThan(answersByThen)
    }
    stop.abort()
    await Promise.all(askers)
    expect(failures.filter((error) => !isConnectionLoss(error))).toEqual([])
    await loaded.close()
  })

  test('a missing server is an error within the timeout', async () => {
    const lonely = connectDatabase({
      connectionString: 'postgresql://nobody@127.0.0.1:1/nothing',
      poolSize: 1,
      statementTimeoutMs: 1_000,
      connectTimeoutMs: 200,
    })
    await expect(lonely.ping()).rejects.toMatchObject({
      code: 'unreachable_database',
      cause: { code: 'ECONNREFUSED' },
    })
    await lonely.close()
  })
})

describe('transactions', () => {
  const readValue = async (id: number): Promise<unknown> =>
    (await database.query('SELECT value FROM counters WHERE id = $1', [id]))[0]?.['value']

  test('a failing transaction leaves nothing', async () => {
    const before = await readValue(1)
    const failing = database.transaction(async (transaction) => {
      await transaction.query('UPDATE counters SET value = value + 1 WHERE id = 1')
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await readValue(1)).toBe(before)
  })

  test('a transaction whose failed statement was ignored does not count as committed', async () => {
    const ignoring = database.transaction(async (transaction) => {
      await transaction.query('UPDATE counters SET value = value + 1 WHERE id = 1')
      await transaction.query('SELECT 1 / 0').catch(() => {})
    })
    await expect(ignoring).rejects.toMatchObject({ code: 'not_committed' })
  })

  test('a deadlock is retried until both transactions are done', async () => {
    const before = await readValue(1)
    const bothHoldOne = createBarrier(2)
    let attempts = 0
    const lockInOrder = (first: number, second: number) => async (transaction: Queryable) => {
      attempts += 1
      await transaction.query('UPDATE counters SET value = value + 1 WHERE id = $1', [first])
      await bothHoldOne()
      await transaction.query('UPDATE counters SET value = value + 1 WHERE id = $1', [second])
    }
    await Promise.all([database.transaction(lockInOrder(1, 2)), database.transaction(lockInOrder(2, 1))])
    // One of the two is aborted and retried; on a busy machine, this may happen more than once.
    expect(attempts).toBeGreaterThanOrEqual(3)
    expect(await readValue(1)).toBe(BigInt(Number(before)) + 2n)
  })

  test('a serialisation failure is retried and no update is lost', async () => {
    const before = Number(await readValue(2))
    const bothHaveRead = createBarrier(2)
    const increment = async (transaction: Queryable): Promise<void> => {
      await transaction.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE')
      const [row] = await transaction.query<{ value: bigint }>('SELECT value FROM counters WHERE id = 2')
      await bothHaveRead()
      await transaction.query('UPDATE counters SET value = $1 WHERE id = 2', [(row?.value ?? 0n) + 1n])
    }
    await Promise.all([database.transaction(increment), database.transaction(increment)])
    expect(await readValue(2)).toBe(BigInt(before + 2))
  })

  test('a permanent conflict is reported after a limited number of attempts', async () => {
    let attempts = 0
    const hopeless = database.transaction(async (transaction) => {
      attempts += 1
      await transaction.query(`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`)
    })
    await expect(hopeless).rejects.toMatchObject({ code: '40001' })
    expect(attempts).toBe(8)
  })

  test('a connection cut before the commit is replaced and the work is run again', async () => {
    let attempts = 0
    await database.transaction(async (transaction) => {
      attempts += 1
      const [row] = await transaction.query('SELECT pg_backend_pid() AS pid')
      if (attempts === 1) await database.query('SELECT pg_terminate_backend($1)', [row?.['pid']])
      await transaction.query('UPDATE counters SET value = value + 1 WHERE id = 1')
    })
    expect(attempts).toBe(2)
  })
})

/** Blocks callers until `count` of them have arrived; after that, lets all callers through. */
function createBarrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let arrived = 0
  return () => {
    arrived += 1
    if (arrived >= count) resolve()
    return promise
  }
}

describe.each([
  ['prepared', true],
  ['not prepared', false],
])('a statement that only writes, %s,', (_name, prepareStatements) => {
  const COUNT_UP = 'UPDATE counters SET value = value + $2 WHERE id = ANY ($1::int[])'
  let own: Database
  let connection: KeptConnection

  beforeEach(async () => {
    const { connectionString } = testDatabase
    own = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 5_000, prepareStatements })
    connection = await own.keepConnection()
  })

  afterEach(async () => {
    connection.release(false)
    await own.close()
  })

  test('writes repeatedly, with queries in between', async () => {
    const valuesOf = () => connection.query('SELECT id, value FROM counters WHERE id <= 2 ORDER BY id')
    const before = await valuesOf()
    await connection.write(COUNT_UP, ['{1,2}', '5'])
    await connection.write(COUNT_UP, ['{1}', '1'])
    await connection.write(COUNT_UP, ['{}', '1'])
    expect(await connection.query('SELECT $1::text AS word', ['between'])).toEqual([{ word: 'between' }])
    await connection.write(COUNT_UP, ['{1}', '1'])
    const added = [7n, 5n]
    expect(await valuesOf()).toEqual(
      before.map(({ id, value }, index) => ({ id, value: value + added[index] })),
    )
  })

  test('writes any text unchanged', async () => {
    await connection.query('CREATE TEMPORARY TABLE texts (one text, other text)')
    const text = fc.string({ unit: 'binary', maxLength: 200 }).map((value) => value.replaceAll('\0', ''))
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        await connection.query('TRUNCATE texts')
        await connection.write('INSERT INTO texts VALUES ($1, $2)', [one, other])
        expect(await connection.query('SELECT * FROM texts')).toEqual([{ one, other }])
      }),
    )
  })

  test('reports an error of the server, and the connection stays usable', async () => {
    await expect(connection.write(COUNT_UP, ['{1}', 'no number'])).rejects.toMatchObject({ code: '22P02' })
    await expect(connection.write('UPDATE nothing SET a = $1', ['1'])).rejects.toMatchObject({
      code: '42P01',
    })
    expect(await connection.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
    await connection.write(COUNT_UP, ['{1}', '1'])
  })

  test('reports that its connection was lost', async () => {
    const [row] = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const writing = connection.write('UPDATE counters SET value = (SELECT 1 FROM pg_sleep($1))', ['10'])
    const lost = expect(writing).rejects.toSatisfy(isConnectionLoss)
    await database.query('SELECT pg_terminate_backend($1)', [row?.pid])
    await lost
  })

  test('is not sent on a connection that was lost while idle', async () => {
    const [row] = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    expect(connection.isLost).toBe(false)
    await database.query('SELECT pg_terminate_backend($1)', [row?.pid])
    await expect.poll(() => connection.isLost).toBe(true)
  })
})
