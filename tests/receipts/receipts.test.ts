import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createId, timeOfId } from '../../src/kernel/identifiers.ts'
import { createSealer } from '../../src/kernel/seal-text.ts'
import { dropLeaves } from '../../src/modules/receipts/drop-leaves.ts'
import { makeDueReceipts } from '../../src/modules/receipts/receipts.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startGatewayAndHome } from '../cli/gateway-and-home.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway, { isSignedIn: false })

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const LIST = '/v1/organization/receipts'
const logger = pino({ enabled: false })
const sealer = createSealer('a key of the test')

let database: Database
let account: TestAccount
/** The answers that the client kept, as lines. */
let answers: string
let month: string
/** The beginning of the day after the requests. */
let tomorrowMs: number

beforeAll(() => {
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 4,
    statementTimeoutMs: 60_000,
  })
})

afterAll(() => database.close())

const makeReceipts = (nowMs: number): Promise<number> =>
  makeDueReceipts({ database, sealer, logger, nowMs, rest: async () => {} })

async function chat(): Promise<string> {
  const { status, headers, body } = await gateway.request('POST', '/v1/chat/completions', {
    key: account.key,
    body: { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'hello' }] },
  })
  expect(status).toBe(200)
  return JSON.stringify({ request_id: headers.get('x-request-id'), cost_usd: body.usage.cost_usd })
}

const read = (path: string, key = account.key) => gateway.request('GET', `${LIST}${path}`, { key })

/** Posts what was charged. */
const post = () => gateway.request('GET', '/v1/statements', { key: account.key })

beforeEach(async () => {
  let days: Set<number>
  // Once more where midnight came between the requests.
  do {
    account = await createAccount(gateway, { creditUsd: 5 })
    answers = [await chat(), await chat(), await chat(), ''].join('\n')
    await post()
    days = new Set((await recordIds()).map((id) => Math.floor(timeOfId(id) / DAY_MS)))
  } while (days.size > 1)
  const [day = 0] = days
  tomorrowMs = (day + 1) * DAY_MS
  month = new Date(day * DAY_MS).toISOString().slice(0, 7)
  await database.query('DELETE FROM receipt_days')
  await makeReceipts(tomorrowMs + 4 * HOUR_MS)
})

/** Saves the bill as it is now, and checks it. */
async function saveAndVerify(
  name: string,
  ...words: string[]
): Promise<{ code: number | null; said: string[]; folder: string }> {
  const folder = join(home.directory, `${name}-${account.accountId}`)
  const environment = { PARKWAY_API_KEY: account.key, PARKWAY_BASE_URL: gateway.baseUrl }
  const saved = await home.run(['receipts', 'save', month, '-o', folder], { environment })
  expect([saved.code, saved.stderr]).toEqual([0, ''])
  const { code, stdout } = await home.run(['verify-bill', folder, ...words], { environment: {} })
  return { code, folder, said: stdout.trim().split('\n').filter(Boolean) }
}

const recordIds = async (): Promise<string[]> =>
  (
    await database.query<{ id: string }>('SELECT id FROM usage_records WHERE account_id = $1 ORDER BY id', [
      account.accountId,
    ])
  ).map(({ id }) => id)

const requestId = (id = ''): string => `req_${id.replaceAll('-', '')}`

test('a bill that nobody changed agrees with its receipts and with the answers that the client kept', async () => {
  const file = join(home.directory, 'answers.jsonl')
  await writeFile(file, answers)
  const { code, said, folder } = await saveAndVerify('whole', '--answers', file, '--json')
  expect([code, JSON.parse(said.join('\n'))]).toEqual([
    0,
    expect.objectContaining({ receipts: 1, records: 3, unsigned: 0, answers: 3, problems: 0 }),
  ])
  const { body } = await read('/keys')
  expect(body.data.at(-1)).toMatchObject({ algorithm: 'ed25519', retired_at: null })
  const trusted = await home.run(['verify-bill', folder, '--key', body.data.at(-1).public_key])
  expect(trusted.code).toBe(0)
  const strange = await home.run(['verify-bill', folder, '--key', 'AAAA'])
  expect([strange.code, strange.stdout]).toEqual([
    1,
    expect.stringContaining('not one of the keys that you trust'),
  ])
})

test('a record that is changed, removed, added or moved by SQL is named', async () => {
  const [first = '', second = '', third = ''] = await recordIds()
  const change = (sql: string, ...values: unknown[]) => database.query(sql, [account.accountId, ...values])

  await change(
    'UPDATE usage_records SET cost_nano_usd = cost_nano_usd + 1 WHERE account_id = $1 AND id = $2',
    first,
  )
  expect((await saveAndVerify('changed')).said).toEqual([
    expect.stringMatching(`${requestId(first)} .* was changed`),
  ])
  await change(
    'UPDATE usage_records SET cost_nano_usd = cost_nano_usd - 1 WHERE account_id = $1 AND id = $2',
    first,
  )

  const added = createId(tomorrowMs - DAY_MS)
  const copy = (await change(
    'SELECT * FROM usage_records WHERE account_id = $1 AND id = $2',
    second,
  )) as Record<string, unknown>[]
  const columns = Object.keys(copy[0] ?? {})
  await change(
    `INSERT INTO usage_records (${columns.join(', ')})
     SELECT ${columns.map((name) => (name === 'id' ? '$3' : name)).join(', ')} FROM usage_records WHERE account_id = $1 AND id = $2`,
    second,
    added,
  )
  expect((await saveAndVerify('added')).said).toEqual([
    expect.stringMatching(`${requestId(added)} was added`),
  ])
  await change('DELETE FROM usage_records WHERE account_id = $1 AND id = $2', added)

  const moved = createId(tomorrowMs - DAY_MS)
  await change('UPDATE usage_records SET id = $3 WHERE account_id = $1 AND id = $2', third, moved)
  expect((await saveAndVerify('moved')).said).toEqual([
    expect.stringMatching(`${requestId(third)} .* was removed`),
    expect.stringMatching(`${requestId(moved)} was added`),
  ])
  await change('UPDATE usage_records SET id = $3 WHERE account_id = $1 AND id = $2', moved, third)
  expect((await saveAndVerify('whole-again')).code).toBe(0)

  const other = await createAccount(gateway, { creditUsd: 1 })
  await change(
    'UPDATE usage_records SET account_id = $3 WHERE account_id = $1 AND id = $2',
    first,
    other.accountId,
  )
  const gone = await saveAndVerify('removed')
  expect([gone.code, gone.said]).toEqual([1, [expect.stringMatching(`${requestId(first)} .* was removed`)]])
  await database.query('UPDATE usage_records SET account_id = $2 WHERE account_id = $1', [
    other.accountId,
    account.accountId,
  ])
})

test('receipts that were written anew, taken away or signed by a stranger are named', async () => {
  const { folder } = await saveAndVerify('before')
  const set = (sql: string) =>
    database.query(`UPDATE receipts SET ${sql} WHERE account_id = $1`, [account.accountId])

  await set(`statement = replace(statement, '"records":3', '"records":2')`)
  const { said } = await saveAndVerify('forged', '--earlier', folder)
  expect(said).toEqual([
    'receipt 1 has a wrong signature',
    'receipt 1 is not the one that was saved earlier',
    expect.stringContaining('is not what receipt 1 was signed for'),
  ])
  await set(`statement = replace(statement, '"records":2', '"records":3')`)

  await database.query('DELETE FROM receipts WHERE account_id = $1', [account.accountId])
  const without = await saveAndVerify('without', '--earlier', folder)
  expect([without.code, without.said]).toEqual([1, ['receipt 1 is not the one that was saved earlier']])
})

test('a record that comes late gets a receipt of its own, and the chain goes on', async () => {
  answers += `${await chat()}\n`
  await post()
  expect(await makeReceipts(tomorrowMs + 5 * HOUR_MS)).toBe(0)
  // The hashes are needed as long as the day is looked at again, however short records are kept.
  await dropLeaves(database, tomorrowMs + DAY_MS, async () => {})
  expect(await makeReceipts(tomorrowMs + 28 * HOUR_MS)).toBe(1)
  expect(await makeReceipts(tomorrowMs + 29 * HOUR_MS)).toBe(0)
  const { body } = await read('?limit=1')
  expect(body).toMatchObject({ has_more: true, last_id: 'receipt_2', data: [{ number: 2, records: 1 }] })
  expect((await read('?after=receipt_2')).body.data).toMatchObject([{ number: 1, records: 3 }])
  expect(await saveAndVerify('late')).toMatchObject({ code: 0, said: [] })
})

test('two makers at once and one that was killed leave one receipt a record', async () => {
  await database.query('DELETE FROM receipts WHERE account_id = $1', [account.accountId])
  await database.query(
    `INSERT INTO receipts (account_id, number, day, created_at) VALUES ($1, 1, now()::date, now())`,
    [account.accountId],
  )
  expect((await read('')).body.data).toEqual([])
  await database.query('UPDATE receipt_days SET looks = 0')
  await Promise.allSettled([makeReceipts(tomorrowMs + 4 * HOUR_MS), makeReceipts(tomorrowMs + 4 * HOUR_MS)])
  await database.query('UPDATE receipt_days SET looks = 0')
  await makeReceipts(tomorrowMs + 4 * HOUR_MS)
  expect((await read('')).body.data).toMatchObject([{ number: 1, records: 3 }])
})

test('receipts are read by whoever reads the usage of the whole account, and nobody else', async () => {
  const other = await createAccount(gateway, { creditUsd: 1 })
  expect((await read('', other.key)).body.data).toEqual([])
  expect((await read('/receipt_1/leaves', other.key)).status).toBe(404)
  const records = await fetch(`${gateway.baseUrl}${LIST}/records?month=${month}`, {
    headers: { authorization: `Bearer ${other.key}` },
  })
  expect([records.status, await records.text()]).toEqual([200, ''])
  expect((await read('/receipt_1/leaves')).body).toMatch(/^(req_[0-9a-f]{32} [0-9a-f]{32}\n){3}$/)
  for (const path of ['/receipt_0/leaves', '/receipt_99999999999/leaves', '/x/leaves'])
    expect((await read(path)).status).toBe(404)
  for (const path of ['?after=x', '/records?month=2026-13', '/records'])
    expect((await read(path)).status).toBe(400)
})

test('records tell nothing that only the operator may know', async () => {
  const folder = (await saveAndVerify('public')).folder
  const [line = ''] = (await readFile(join(folder, 'records.jsonl'), 'utf8')).split('\n')
  expect(Object.keys(JSON.parse(line))).not.toContain('vendor_cost_nano_usd')
})
