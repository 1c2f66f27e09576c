import { extractText, getDocumentProxy } from 'unpdf'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { receiveWebhooks, type WebhookReceiver } from '../budget-alerts/receive-webhooks.ts'
import { joinAccount } from '../organization/join-account.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { openTestDatabase, type OpenDatabase } from '../payments/open-test-database.ts'
import { eventually } from '../support/eventually.ts'
import { plain, toNano } from './amounts.ts'
import { expectMailBounds } from './expect-mail-bounds.ts'
import { startSmtpServer, type SmtpServer } from '../upstreams/smtp-server.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let database: OpenDatabase
let hook: WebhookReceiver
let smtp: SmtpServer
let account: TestAccount
let other: TestAccount
/** The month of now. */
let month: string
let lastMonth: string
let projectId: string

const ACCOUNT_NAME = 'Zoë Łukasz Ωμέγα Иван'

beforeAll(async () => {
  hook = await receiveWebhooks()
  smtp = await startSmtpServer()
  gateway = await startTestGateway({
    settings: {
      PARKWAY_OUTBOUND_ALLOW: hook.host,
      PARKWAY_SMTP_URL: smtp.url,
      PARKWAY_SMTP_FROM: 'Parkway <parkway@example.com>',
      PARKWAY_OPERATOR_NAME: 'Example GmbH',
      PARKWAY_OPERATOR_ADDRESS: 'Hauptstraße 1|Berlin',
      PARKWAY_OPERATOR_TAX_ID: 'DE123456789',
      PARKWAY_OPERATOR_TAX_LINE: 'Reverse charge: VAT is owed by the customer.',
    },
  })
  database = openTestDatabase(gateway)
  account = await createAccount(gateway, { creditUsd: 5 })
  other = await createAccount(gateway, { creditUsd: 1 })
  await database.query(`UPDATE accounts SET name = '${ACCOUNT_NAME}' WHERE id = '${account.accountId}'`)
  await gateway.request('POST', `/v1/admin/accounts/${account.accountId}/credit`, {
    body: { amount_usd: -0.000000007, reason: '=cmd|danger' },
  })
  const { body: project } = await gateway.request('POST', '/v1/organization/projects', {
    key: account.key,
    body: { name: 'Research' },
  })
  projectId = project.id
  for (let index = 0; index < 3; index += 1) await chat(account.key)
  const { body } = await read(account.key, '')
  month = body.data[0].id
  lastMonth = new Date(Date.parse(`${month}-01T00:00:00Z`) - 1).toISOString().slice(0, 7)
})

afterAll(async () => {
  await database.close()
  await gateway.close()
  hook.close()
  smtp.close()
})

async function chat(key: string): Promise<void> {
  const { status } = await gateway.request('POST', '/v1/chat/completions', {
    key,
    body: { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'hello' }] },
  })
  expect(status).toBe(200)
}

const read = (key: string | null, path: string): Promise<TestAnswer> =>
  gateway.request('GET', `/v1/statements${path}`, { key })

const nano = ({ nano_usd: text }: { nano_usd: string }): bigint => BigInt(text)

describe('the statement of a month', () => {
  test('200: opening, movements and charges add up to the balance, and each list of charges to the charges', async () => {
    const { status, body } = await read(account.key, `/${month}`)
    expect([status, body.status, body.number, body.account.name]).toEqual([200, 'open', null, ACCOUNT_NAME])
    const { opening_balance: opening, closing_balance: closing, ...sums } = body.balance
    const moved = Object.values(sums).reduce((sum: bigint, each) => sum + nano(each as never), 0n)
    expect(nano(opening) + moved).toBe(nano(closing))
    const { body: tenant } = await gateway.request('GET', '/v1/tenants/me', { key: account.key })
    expect(closing.usd).toBe(tenant.balance_usd)
    expect(nano(body.charged)).toBe(-nano(sums.charges))
    expect(nano(body.charged)).toBeGreaterThan(0n)
    for (const lines of Object.values<{ charged: { nano_usd: string }; requests: number }[]>(body.charges)) {
      expect(lines.reduce((sum, { charged }) => sum + nano(charged), 0n)).toBe(nano(body.charged))
      expect(lines.reduce((sum, { requests }) => sum + requests, 0)).toBe(3)
    }
    expect(body.charges.by_model.map((line: { id: string }) => line.id)).toEqual(['gpt-5.4-mini'])
    expect(body.charges.by_project[0].name).toBe('Default')
    expect(body.movements.map((each: { kind: string }) => each.kind)).toEqual(['adjustments', 'adjustments'])
    expect(body.operator).toEqual({
      name: 'Example GmbH',
      address: 'Hauptstraße 1|Berlin',
      tax_id: 'DE123456789',
      tax_line: 'Reverse charge: VAT is owed by the customer.',
    })
  })

  test('200: CSV has every movement and charge, adds up, and no formula', async () => {
    const { body: statement } = await read(account.key, `/${month}`)
    const { status, headers, body } = await read(account.key, `/${month}?format=csv`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    const lines: string[] = body.trim().split('\r\n')
    expect(body).toContain(`'=cmd|danger`)
    const amounts = lines.slice(1).map((line) => toNano(line.split(',').at(-1) ?? ''))
    const [opening, closing] = [amounts[0] ?? 0n, amounts.at(-1)]
    expect(amounts.slice(1, -1).reduce((sum, each) => sum + each, opening)).toBe(closing)
    expect(closing).toBe(nano(statement.balance.closing_balance))
  })

  test('200: the file for FinOps has the columns of FOCUS, and its costs add up to what was charged', async () => {
    const { body: statement } = await read(account.key, `/${month}`)
    const { status, headers, body } = await read(account.key, `/${month}?format=focus`)
    expect([status, headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="statement-${month}.focus.csv"`,
    ])
    const [names = [], ...values] = body
      .trim()
      .split('\r\n')
      .map((line: string) => line.split(',')) as string[][]
    const rows = values.map((row) => Object.fromEntries(row.map((value, index) => [names[index], value])))
    expect(rows[0]).toMatchObject({
      BillingAccountId: account.accountId,
      BillingCurrency: 'USD',
      BillingPeriodStart: `${month}-01T00:00:00Z`,
      ChargeCategory: 'Usage',
      ConsumedQuantity: '3',
      InvoiceIssuerName: 'Example GmbH',
      ResourceType: 'API key',
      ServiceCategory: 'AI and Machine Learning',
      SkuId: 'gpt-5.4-mini',
    })
    const costs = rows.map(({ BilledCost: cost = '' }) => toNano(cost))
    expect(costs.reduce((sum, each) => sum + each, 0n)).toBe(nano(statement.charged))
  })

  test('200: PDF has the names in their scripts, the operator, and the same sums', async () => {
    const { body: statement } = await read(account.key, `/${month}`)
    const response = await gateway.fetch('GET', `/v1/statements/${month}?format=pdf`, { key: account.key })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    const pdf = await getDocumentProxy(new Uint8Array(await response.arrayBuffer()))
    const { text } = await extractText(pdf, { mergePages: true })
    for (const wanted of [
      ACCOUNT_NAME,
      'Example GmbH',
      'Hauptstraße 1',
      'DE123456789',
      'Reverse charge',
      'gpt-5.4-mini',
      plain(nano(statement.balance.closing_balance)),
      plain(nano(statement.balance.charges)),
      plain(nano(statement.charged)),
    ])
      expect(text).toContain(wanted)
  })

  test('200: of a project, its charges and no balance', async () => {
    const { body } = await read(account.key, `/${month}?project_id=${projectId}`)
    expect([body.balance, body.movements, body.charged.nano_usd, body.project.name]).toEqual([
      null,
      null,
      '0',
      'Research',
    ])
    const { body: usual } = await read(account.key, `/${month}?project_id=${account.accountId}`)
    const { body: whole } = await read(account.key, `/${month}`)
    expect(usual.charged).toEqual(whole.charged)
  })

  test('404: another month, and the project of another account; 400: no month', async () => {
    expect((await read(account.key, '/1999-01')).status).toBe(400)
    expect((await read(account.key, '/2001-01')).status).toBe(404)
    expect((await read(account.key, '/9999-01')).status).toBe(404)
    expect((await read(account.key, '/2026-13')).status).toBe(400)
    expect((await read(other.key, `/${month}?project_id=${projectId}`)).status).toBe(404)
    expect((await read(account.key, `/${month}?project_id=nothing`)).status).toBe(400)
    expect((await read(account.key, '?after=nothing')).status).toBe(400)
  })

  test('403: a key that only calls models; 401: without a key', async () => {
    const { key } = await createAccount(gateway, { scopes: ['inference'] })
    expect((await read(key, `/${month}`)).status).toBe(403)
    expect((await read(key, '')).status).toBe(403)
    expect((await read(null, '')).status).toBe(401)
  })
})

describe('a key of a project', () => {
  test('sees the charges of its project, and no balance of the account', async () => {
    const at = `/v1/organization/projects/${projectId}/service_accounts`
    const send = (path: string, body: object) =>
      gateway.request('POST', at + path, { key: account.key, body })
    const { body: bot } = await send('', { name: 'bot', create_service_account_only: true })
    await send(`/${bot.id}`, { role: 'owner' })
    const { body: made } = await send(`/${bot.id}/api_keys`, { scopes: ['inference', 'manage'] })
    const key = made.value
    const { status, body } = await read(key, `/${month}`)
    expect([status, body.balance, body.project.name]).toEqual([200, null, 'Research'])
    expect((await read(key, `/${month}?project_id=${account.accountId}`)).status).toBe(404)
    const { body: list } = await read(key, '')
    expect(list.data.map((each: { balance: unknown }) => each.balance)).toEqual([null])
  })
})

describe('operators', () => {
  test('200: all accounts of a month, as list and CSV, and one statement', async () => {
    const { body } = await gateway.request('GET', `/v1/admin/statements?month=${month}&limit=100`)
    const ids = body.data.map((each: { account_id: string }) => each.account_id)
    expect(ids).toEqual(expect.arrayContaining([account.accountId, other.accountId]))
    const csv = await gateway.request('GET', `/v1/admin/statements?month=${month}&format=csv`)
    expect(csv.body.trim().split('\r\n')).toHaveLength(ids.length + 1)
    const path = `/v1/admin/accounts/${account.accountId}/statements/${month}`
    expect((await gateway.request('GET', path)).body).toEqual((await read(account.key, `/${month}`)).body)
  })

  test('403: nobody else; 404: no account; 400: no month', async () => {
    const { status } = await gateway.request('GET', '/v1/admin/statements', { key: account.key })
    expect(status).toBe(403)
    const path = `/v1/admin/accounts/019a0000-0000-7000-8000-000000000000/statements/${month}`
    expect((await gateway.request('GET', path)).status).toBe(404)
    expect((await gateway.request('GET', '/v1/admin/statements?month=october')).status).toBe(400)
    expect((await gateway.request('GET', `/v1/admin/statements?month=${lastMonth}`)).body.data).toEqual([])
  })
})

describe('a month that has ended', () => {
  test('is closed with a number, told to the webhook and by mail, and opens the next month', async () => {
    const { accountId, key } = await createAccount(gateway)
    const email = `books-${accountId}@example.com`
    for (const address of [email, `other-${accountId}@example.com`])
      await joinAccount(gateway, {
        email: address,
        key: (await keyWith(accountId, ['inference', 'manage'])).key,
      })
    await gateway.request('PATCH', '/v1/budget-alerts/settings', {
      key,
      body: { webhook_url: hook.url, statement_emails: [email] },
    })
    const at = `${lastMonth}-15T12:00:00Z`
    await database.query(
      `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, created_at)
       SELECT name, $1::uuid, book, kind, sign * amount, $2::timestamptz
       FROM (VALUES ('a:' || $3::text, 'grant', 'cash', 7), ('b:' || $3, 'deduct', 'adjustment', -7)) AS moved (name, kind, other, amount)
       CROSS JOIN LATERAL (VALUES ('credit', 1), (other, -1)) AS sides (book, sign)`,
      [accountId, at, accountId],
    )
    const closed = await eventually(async () => {
      const { body } = await read(key, `/${lastMonth}`)
      expect(body.status).toBe('closed')
      return body
    })
    expect([closed.number, closed.balance.top_ups.nano_usd, closed.balance.adjustments.nano_usd]).toEqual([
      'ST-000001',
      '7',
      '-7',
    ])
    const event = await eventually(() => {
      const [received] = hook.received
      if (received === undefined) throw new Error('nothing yet')
      return JSON.parse(received.text)
    })
    expect([event.type, event.data.number]).toEqual(['statement.closed', 'ST-000001'])
    const mail = await eventually(() => {
      const found = smtp.received.find(({ to }) => to.includes(email))
      if (found === undefined) throw new Error('nothing yet')
      return found.content
    })
    expect(mail).toContain(`Subject: Statement ST-000001 of ${lastMonth}`)
    expect(mail).toContain('Content-Type: application/pdf')
    expect(mail).toContain(`statement-${lastMonth}-ST-000001.pdf`)
    await expectMailBounds({ gateway, database, smtp }, { accountId, key, email })
    const { body: next } = await read(key, `/${month}`)
    expect(next.balance.opening_balance).toEqual(closed.balance.closing_balance)
    const { body: deliveries } = await gateway.request('GET', '/v1/webhook-deliveries', {
      key: (await keyWith(accountId, ['inference', 'manage'])).key,
    })
    expect(deliveries.data[0].statement_id).toEqual(expect.any(String))
    const { body: list } = await read(key, '?limit=1')
    expect([list.total, list.has_more, list.next_cursor]).toEqual([2, true, month])
    const { body: second } = await read(key, `?after=${list.next_cursor}`)
    expect(second.data.map((each: { id: string; number: string }) => [each.id, each.number])).toEqual([
      [lastMonth, 'ST-000001'],
    ])
  })
})

async function keyWith(accountId: string, scopes: string[]): Promise<{ key: string }> {
  const path = `/v1/admin/accounts/${accountId}/api-keys`
  return (await gateway.request('POST', path, { body: { scopes } })).body
}
