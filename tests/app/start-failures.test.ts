import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { createWorkplace, type Finished, type Workplace } from './workplace.ts'

let workplace: Workplace
let database: TestDatabase
let busy: Server
let busyPort: string

beforeAll(async () => {
  workplace = createWorkplace()
  database = await createTestDatabase()
  busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const address = busy.address()
  busyPort = String(typeof address === 'object' && address !== null ? address.port : 0)
})
afterAll(async () => {
  busy.close()
  await workplace.clean()
  await database.drop()
})

const serve = (environment: Record<string, string>, ...flags: string[]): Promise<Finished> =>
  workplace.run(['serve', ...flags], {
    environment: { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error', ...environment },
  })

/** Expects one sentence for the operator, exit code 1, and no stack trace. */
function expectSentence({ code, stdout, stderr }: Finished, sentence: RegExp): void {
  expect(stderr).toMatch(sentence)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^parkway: /)
  expect(stderr).not.toMatch(/^ +at /m)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
}

describe('a start fails with one clear sentence', () => {
  it('when the port is taken', async () => {
    expectSentence(
      await serve({ PORT: busyPort }),
      /EADDRINUSE.*:\d+\. Another program listens there; set PORT/,
    )
  })

  it('when the port is taken and several processes would share it', async () => {
    expectSentence(
      await serve({ PORT: busyPort }, '--processes', '2'),
      /EADDRINUSE.*set PORT to another port/,
    )
  })

  it('when the address is not one of this machine', async () => {
    expectSentence(
      await serve({ HOST: '192.0.2.1' }),
      /EADDRNOTAVAIL.*HOST is not an address of this machine/,
    )
  })

  it('when one of several processes cannot start', async () => {
    expectSentence(
      await serve({ HOST: '192.0.2.1' }, '--processes', '2'),
      /EADDRNOTAVAIL.*HOST is not an address of this machine/,
    )
  })

  it('when the data directory cannot be written', async () => {
    const file = workplace.write('a-file', '')
    expectSentence(
      await serve({ DATABASE_URL: '', PARKWAY_DATA_DIR: `${file}/data` }),
      /The data directory .*a-file\/data cannot be used: .*choose another PARKWAY_DATA_DIR/,
    )
  })

  it('when the database cannot be reached', async () => {
    expectSentence(
      await serve({ DATABASE_URL: 'postgres://user:hunter2@localhost:1/parkway' }),
      /The database cannot be reached: .*ECONNREFUSED/,
    )
  })

  it('when the database refuses the user, without repeating the password', async () => {
    const url = new URL(database.connectionString)
    url.password = 'hunter2'
    const finished = await serve({ DATABASE_URL: url.href })
    expectSentence(finished, /The database cannot be reached: .*authentication failed/)
    expect(finished.stderr).not.toContain('hunter2')
  })

  it('when the database fails after the port is open, and the program ends', async () => {
    const other = await createTestDatabase()
    const { connectionString } = other
    const client = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
    try {
      await client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE connection_failure; END $$`)
      await client.query('CREATE TRIGGER refuse BEFORE INSERT ON accounts EXECUTE FUNCTION refuse()')
      expectSentence(await serve({ DATABASE_URL: connectionString }), /cannot reach its database/)
    } finally {
      await client.close()
      await other.drop()
    }
  })

  it('when the catalog file is invalid', async () => {
    const file = workplace.write('catalog.json', '{"models": [{"id": 7}]}')
    const finished = await serve({ PARKWAY_CATALOG_FILE: file })
    expect(finished).toMatchObject({ code: 1, stdout: '' })
    expect(finished.stderr).toMatch(/^parkway: .*catalog/)
    expect(finished.stderr).toContain(file)
    expect(finished.stderr).not.toMatch(/^ +at /m)
  })

  it('when the bootstrap key does not have the form of a key', async () => {
    const finished = await serve({ PARKWAY_BOOTSTRAP_KEY: 'my-secret-key' })
    expect(finished).toMatchObject({ code: 1, stdout: '' })
    expect(finished.stderr).toMatch(/PARKWAY_BOOTSTRAP_KEY is a secret; it must be a key of the form pk-</)
    expect(finished.stderr).not.toContain('my-secret-key')
  })

  it('when nothing can be created in the data directory', async () => {
    expectSentence(
      await serve({ DATABASE_URL: '', PARKWAY_DATA_DIR: '/proc/x' }),
      /The data directory \/proc\/x cannot be used: .*choose another PARKWAY_DATA_DIR/,
    )
  })
})
