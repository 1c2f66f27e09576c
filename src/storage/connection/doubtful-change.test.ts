import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from './connect-database.ts'
import { isConnectionLoss } from './connection-loss.ts'
import type { Database } from '../database.ts'
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 30_000 })
  await database.query('CREATE TABLE counters (id int PRIMARY KEY, value int)')
  await database.query('INSERT INTO counters VALUES (1, 0)')
})

afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

describe('a connection that is lost while a commit is confirmed', () => {
  test('makes the outcome of the commit unknown, and it is not run again', async () => {
    await database.query(`CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_terminate_backend(pg_backend_pid());
      RETURN NULL;
    END $$`)
    await database.query(`CREATE CONSTRAINT TRIGGER leave_at_commit AFTER UPDATE ON counters
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()`)
    let attempts = 0
    const changing = database.transaction(async (transaction) => {
      attempts += 1
      await transaction.query('UPDATE counters SET value = value + 1 WHERE id = 1')
    })
    await expect(changing).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(attempts).toBe(1)
    await expect(database.query('UPDATE counters SET value = value + 1 WHERE id = 1')).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
    await database.query('DROP FUNCTION leave CASCADE')
  })

  test('does not make the outcome of a read unknown', async () => {
    const reading = database.query('SELECT pg_terminate_backend(pg_backend_pid())')
    await expect(reading).rejects.toSatisfy(isConnectionLoss)
  })
})
