import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { readEvents, readPieces } from '../chat/read-events.ts'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { chunk, chunksOf, pacedStream, stream } from '../upstreams/openai-server.ts'
import { eventually } from '../support/eventually.ts'

let gateway: ChatGateway
let database: Client

beforeEach(async () => {
  gateway = await startChatGateway()
  database = new Client({ connectionString: gateway.connectionString, options: '-c search_path=parkway' })
  await database.connect()
})

afterEach(async () => {
  const { connectionString } = gateway
  const pool = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 5_000 })
  expect((await verifyLedger(pool)).flatMap(({ differences }) => differences)).toEqual([])
  await pool.close()
  await database.end()
  await gateway.close()
})

const headers = { 'idempotency-key': 'order' }
const ask = (members: object = {}) => gateway.request('POST', CHAT, { body: chatBody(members), headers })
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
const charges = async () => {
  await gateway.request('GET', '/v1/usage/records')
  return (await database.query('SELECT id, cost_nano_usd, outcome FROM usage_records')).rows
}
/** Creates the state of a process that died after the charge and before it stored the answer. */
const forgetAnswer = () => database.query('UPDATE idempotency_keys SET answer = NULL, lease_until = now()')

describe('one key is charged once', () => {
  test('however often it is sent', async () => {
    const first = await ask()
    const [before, charged] = [await balance(), await charges()]
    expect(charged).toHaveLength(1)
    for (let count = 0; count < 5; count += 1) expect((await ask()).body).toEqual(first.body)
    expect([await balance(), await charges()]).toEqual([before, charged])
  })

  test('if the process dies between the charge and the answer', async () => {
    const first = await ask()
    const [before, charged] = [await balance(), await charges()]
    await forgetAnswer()
    const again = await ask()
    expect([again.status, again.headers.get('x-request-id')]).toEqual([
      200,
      first.headers.get('x-request-id'),
    ])
    expect(gateway.upstream.requests).toHaveLength(2)
    expect([await balance(), await charges()]).toEqual([before, charged])
  })

  test('one key is charged once and other charges of the same commit are not lost', async () => {
    await ask()
    await forgetAnswer()
    const others = Array.from({ length: 30 }, () => gateway.request('POST', CHAT, { body: chatBody() }))
    const answers = await Promise.all([...others.slice(0, 15), ask(), ...others.slice(15)])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await charges()).toHaveLength(31)
  })
})

test('a client that disconnected pays for what it got, and for its next try', async () => {
  const paced = pacedStream()
  gateway.upstream.respondWith(paced.reply, stream(chunksOf('whole')))
  const body = chatBody({ stream: true })
  const sending = gateway.fetch('POST', CHAT, { body, headers })
  await gateway.upstream.requestNumber(0)
  paced.release(chunk({ delta: { role: 'assistant', content: 'half' } }))
  const pieces = readPieces(await sending)
  await pieces.until(/half/)
  await pieces.cancel()
  await eventually(async () => expect(await charges()).toMatchObject([{ outcome: 'disconnected' }]))
  const free = async () => expect((await database.query('SELECT FROM idempotency_keys')).rows).toHaveLength(0)
  await eventually(free)
  const again = await gateway.fetch('POST', CHAT, { body, headers }).then(readEvents)
  expect(again.content).toBe('whole')
  expect((await charges()).map(({ outcome }) => outcome)).toEqual(['disconnected', 'completed'])
})

test('402 becomes an answer under the same key when there is credit', async () => {
  const { key, accountId } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0 })
  const send = () => gateway.request('POST', CHAT, { body: chatBody(), headers, key })
  expect((await send()).status).toBe(402)
  const topUp = await gateway.request('POST', `/v1/admin/accounts/${accountId}/credit`, {
    body: { amount_usd: 1, reason: 'top-up' },
  })
  expect(topUp.status).toBe(201)
  await expect.poll(async () => (await send()).status).toBe(200)
})
