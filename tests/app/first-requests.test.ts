import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'

const KEY = 'pk-dev-FirstFirstFirstFirstFirstFirstFirstFirst'

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test.each(['true', 'false'])(
  'a gateway that is alive knows its first key: requests during the first start wait for it (fast path: %s)',
  async (isFast) => {
    const database = await createTestDatabase()
    onTestFinished(() => database.drop())
    const { connectionString } = database
    const client = new Client({ connectionString, options: '-c search_path=parkway' })
    await client.connect()
    onTestFinished(() => client.end())
    // The first key cannot be stored before this lock is given back.
    await client.query('BEGIN; LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE')
    const port = await findFreePort()
    const starting = startTestGateway({
      connectionString,
      key: KEY,
      settings: { PORT: String(port), PARKWAY_FAST_HTTP: isFast },
    })
    const answers: string[] = []
    const ask = async (path: string): Promise<number> => {
      for (;;) {
        try {
          const { status } = await fetch(`http://127.0.0.1:${port}${path}`, {
            headers: { authorization: `Bearer ${KEY}` },
          })
          answers.push(path)
          return status
        } catch {
          // Nobody listens yet.
          await new Promise(setImmediate)
        }
      }
    }
    const asked = Promise.all([ask('/healthz'), ask('/readyz'), ask('/v1/tenants/me'), ask('/v1/models')])
    await expect
      .poll(
        async () => {
          const { rows } = await client.query(
            `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'accounts'::regclass`,
          )
          return rows.length
        },
        { timeout: 30_000 },
      )
      .toBe(1)
    expect(answers).toEqual([])
    await client.query('ROLLBACK')
    expect(await asked).toEqual([200, 200, 200, 200])
    await (await starting).close()
  },
)
