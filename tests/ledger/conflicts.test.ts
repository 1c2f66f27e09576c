import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { until } from '../app/call.ts'
import { CHAT, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { chunksOf, completion, stream } from '../upstreams/openai-server.ts'
import { chatOf, MODEL, readCharges } from './start-fleet.ts'

let gateway: ChatGateway
let database: Database

beforeAll(async () => {
  gateway = await startChatGateway({ models: [modelEntry(MODEL, [{ provider: 'openai', model: MODEL }])] })
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  const checks = await verifyLedger(database)
  expect(checks.filter(({ differences }) => differences.length > 0)).toEqual([])
  await database.close()
  await gateway.close()
})

const ask = ({ key }: TestAccount, members: object = {}) =>
  gateway.request('POST', CHAT, { key, body: chatOf('Hi', members) })
const chargesOf = ({ accountId }: TestAccount) => readCharges(database, accountId)
const payerWith = (creditUsd: number) => createAccount(gateway, { creditUsd })

describe('charges in database deadlocks', () => {
  test('a charge that a deadlock aborts is written again', async () => {
    const payer = await payerWith(1)
    await ask(payer)
    const rival = new Client({
      connectionString: gateway.connectionString,
      options: '-c search_path=parkway',
    })
    await rival.connect()
    try {
      await rival.query('BEGIN')
      await rival.query('SELECT FROM credit_leases WHERE account_id = $1 FOR UPDATE', [payer.accountId])
      expect((await ask(payer)).status).toBe(200)
      // Posting has locked the journal row and waits for the lease row; locking the journal row here completes a deadlock.
      await until(async () => (await countWaiting()) > 0)
      const locked = await rival.query('SELECT FROM charge_journal FOR UPDATE').then(
        () => true,
        () => false,
      )
      await rival.query(locked ? 'COMMIT' : 'ROLLBACK')
    } finally {
      await rival.end()
    }
    expect(await chargesOf(payer)).toHaveLength(2)
  })

  test('charges that conflict repeatedly are all written, each once', async () => {
    await database.query('CREATE SEQUENCE conflicts')
    await database.query(`
      CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('parkway.conflicts') % 3 <> 0 THEN
          RAISE EXCEPTION 'a played conflict' USING ERRCODE = CASE WHEN random() < 0.5 THEN '40001' ELSE '40P01' END;
        END IF;
        RETURN NULL;
      END $$`)
    await database.query(
      'CREATE TRIGGER conflicts AFTER INSERT ON usage_records FOR EACH STATEMENT EXECUTE FUNCTION conflict()',
    )
    const payer = await payerWith(1)
    gateway.upstream.respondWith(({ text }) =>
      text.includes('"stream":true') ? stream(chunksOf('Hi')) : completion(),
    )
    try {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => ask(payer, { stream: index % 2 === 0, max_tokens: 100 })),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      const ids = answers.map(({ headers }) => String(headers.get('x-request-id')))
      await expect.poll(() => chargedIds(payer)).toEqual(ids.toSorted())
    } finally {
      await database.query('DROP FUNCTION parkway.conflict CASCADE')
    }
  })
})

/** Returns the charged request ids; an empty list while the charges cannot be posted. */
async function chargedIds(payer: TestAccount): Promise<string[]> {
  const charges = await chargesOf(payer).catch(() => [])
  return charges.map(({ requestId }) => requestId).toSorted()
}

async function countWaiting(): Promise<number> {
  const [row] = await database.query<{ waiting: bigint }>(
    `SELECT count(*) AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%charge_journal%'`,
  )
  return Number(row?.waiting ?? 0n)
}
