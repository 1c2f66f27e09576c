import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { click } from '../payments/open-checkout.ts'
import { createOther } from '../deployments/deploy.ts'
import { signIn as openSession } from '../sessions/sign-in.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

beforeAll(async () => {
  for (const model of ['gpt-4o', 'gpt-4o-mini', 'gpt-4o-mini']) await home.run(['chat', '-m', model, 'Hi'])
})

describe('sessions', () => {
  test('are listed with device, address and last use, and end one by one or all at once', async () => {
    const [first] = [await openSession(gateway), await openSession(gateway), await openSession(gateway)]
    const table = await home.run(['sessions'])
    expect(table.stdout.split('\n')[0]).toMatch(/^session +last use +signed in +with +address +device$/)
    expect(table.stdout.trim().split('\n')).toHaveLength(4)
    expect((await home.run(['sessions', 'end', first.id.slice(0, -1)])).stdout).toBe('Ended the session.\n')
    expect((await first.ask('GET', '/v1/tenants/me')).status).toBe(401)
    expect((await home.run(['sessions', 'end'])).code).toBe(2)
    expect((await home.run(['sessions', 'end', '--all', '--yes'])).stdout).toBe('Ended 2 sessions.\n')
    expect((await home.run(['sessions'])).stderr).toBe('You are signed in with no browser.\n')
  })
})

describe('usage', () => {
  test('is a table by model with shares, a total and sparklines', async () => {
    const { code, stdout, stderr } = await home.run(['usage'])
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trim().split('\n')
    expect(lines[0]).toMatch(/^model +requests +tokens in +tokens out +cost +share +spend over time$/)
    expect(lines[1]).toMatch(/^gpt-4o +1 .*█$/)
    expect(lines.at(-1)).toMatch(/^total +3 .* 100\.0 %/)
  })

  test.each(['model', 'key', 'provider', 'env'])(
    'usage by %s prints exactly the JSON of the API',
    async (by) => {
      const range = '2026-01-01T00:00:00.000Z'
      const to = new Date().toISOString()
      const path = `/v1/usage/spending?by=${by}&from=${range}&to=${to}&limit=20`
      const { body } = await gateway.request('GET', path)
      const { stdout } = await home.run(['usage', '--by', by, '--from', range, '--to', to, '--json'])
      expect(JSON.parse(stdout)).toEqual(body)
      expect(body.requests).toBe(3)
    },
  )

  test('usage by day and hour is a table with bars', async () => {
    const days = await home.run(['usage', '--by', 'day', '--window', '7d'])
    expect(days.stdout).toMatch(/^20\d\d-\d\d-\d\d +\d .* █{20}$/m)
    const hours = await home.run(['usage', '--by', 'hour', '--window', '24h', '--json'])
    expect(JSON.parse(hours.stdout)).toMatchObject({ object: 'usage.timeseries', granularity: 'hour' })
  })

  test('covers a month of the calendar in a time zone', async () => {
    const zoned = await home.run(['usage', '--window', 'this_month', '--time-zone', 'Asia/Tokyo', '--json'])
    expect([zoned.code, JSON.parse(zoned.stdout).requests]).toEqual([0, 3])
  })

  test('is comma-separated with --csv, and filtered by model', async () => {
    const { stdout } = await home.run(['usage', '--csv', '--model', 'gpt-4o-mini'])
    expect(stdout).toMatch(
      /^model,name,requests,prompt_tokens,completion_tokens,cost_usd\r\ngpt-4o-mini,[^,]+,2,\d+,\d+,0\.\d{9}\r\n$/,
    )
    const days = await home.run(['usage', '--csv', '--by', 'day'])
    expect(days.stdout).toMatch(/^day,requests,/)
    const none = await home.run(['usage', '--model', 'nothing-of-this-name'])
    expect([none.code, none.stdout, none.stderr]).toEqual([0, '', 'Nothing was used in this time.\n'])
  })
})

describe('budget', () => {
  test('is set by an operator and shown', async () => {
    const set = await home.run(['budget', 'set', '--monthly', '50', '--daily', '5', '--json'])
    const { id } = (await gateway.request('GET', '/v1/tenants/me')).body
    const { body } = await gateway.request('GET', `/v1/admin/accounts/${id}/budget`)
    expect([JSON.parse(set.stdout), body.monthly_usd, body.daily_usd]).toEqual([body, 50, 5])
    const shown = await home.run(['budget'])
    expect(shown.stdout).toMatch(/^budget of the month +[█░]{20} 0 %, \$0\.\d+ of \$50\.00$/m)
    const json = JSON.parse((await home.run(['budget', 'show', '--json'])).stdout)
    const { body: wire } = await gateway.request('GET', '/v1/usage/budget')
    expect({ ...json, updated_at: null }).toEqual({ ...wire, updated_at: null })
    const removed = await home.run(['budget', 'set', '--monthly', 'none', '--daily', 'none'])
    expect(removed.stdout).toMatch(/^a month +no budget$/m)
  })

  test('is not set by anybody else', async () => {
    const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: await createOther(gateway) }
    const refused = await home.run(['budget', 'set', '--daily', '5'], { environment })
    expect([refused.code, refused.stdout]).toEqual([1, ''])
  })
})

describe('topup', () => {
  /** Starts a top-up and returns the address that it prints. */
  async function begin(words: readonly string[]) {
    let child: ChildProcess | undefined
    const ended = home.run(['topup', ...words], { onStart: (started) => (child = started) })
    const url = await new Promise<string>((done) => {
      for (const stream of [child?.stdout, child?.stderr])
        stream?.on('data', (part: Buffer) => {
          const found = /http:\S+/.exec(part.toString())
          if (found !== null) done(found[0])
        })
    })
    return { child, ended, url }
  }

  test('prints the address, follows until it is paid and tells the new balance', async () => {
    const { ended, url } = await begin(['20'])
    expect((await click(url, 'pay')).status).toBe(303)
    const { code, stdout } = await ended
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/\nPaid \$20\.00\. The balance is \$\d+\.\d\d\.\n$/),
    ])
  })

  test('prints the payment as the API does with --json', async () => {
    const { ended, url } = await begin(['5', '--json'])
    await click(url, 'pay')
    const payment = JSON.parse((await ended).stdout)
    expect(payment).toEqual((await gateway.request('GET', `/v1/payments/${payment.id}`)).body)
  })

  test('fails if it is cancelled at the page', async () => {
    const { ended, url } = await begin(['5'])
    await click(url, 'cancel')
    const { code, stderr } = await ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('the payment is cancelled')])
  })

  test('only stops waiting when it is interrupted', async () => {
    const { child, ended, url } = await begin(['5'])
    child?.kill('SIGINT')
    const { code, stderr } = await ended
    expect([code, stderr]).toEqual([130, expect.stringContaining('still open')])
    expect((await click(url, 'pay')).status).toBe(303)
  })

  test('only prints the address with --no-follow', async () => {
    const { code, stdout } = await home.run(['topup', '5', '--no-follow'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^http:\S+\n$/)])
  })
})

describe('statements', () => {
  const month = new Date().toISOString().slice(0, 'YYYY-MM'.length)

  test('lists the months, and shows one with the charges by model and by day', async () => {
    const list = await home.run(['statements'])
    expect(list.stdout).toMatch(new RegExp(`^${month} +open +\\$0\\.00 +\\$0\\.\\d+ +\\$\\d+\\.\\d\\d$`, 'm'))
    const { stdout } = await home.run(['statements', month])
    expect(stdout).toMatch(/^closing balance +\$\d+\.\d\d$/m)
    expect(stdout).toMatch(/^gpt-4o-mini +2 +\$0\.\d+$/m)
    expect(stdout).toMatch(/^total +3 +\$0\.\d+$/m)
    expect((await home.run(['statements', month, '--by', 'day'])).stdout).toMatch(/^20\d\d-\d\d-\d\d +3 /m)
  })

  test('prints a month as CSV and saves it as a PDF', async () => {
    const { stdout } = await home.run(['statements', month, '--csv'])
    expect(stdout).toMatch(/^at,kind,description,/)
    expect(stdout).toContain('closing_balance')
    const path = join(home.directory, 'statement.pdf')
    const saved = await home.run(['statements', month, '-o', path])
    expect([saved.code, saved.stdout]).toEqual([0, `${path}\n`])
    expect((await readFile(path, 'latin1')).slice(0, 5)).toBe('%PDF-')
  })
})

describe('movements', () => {
  test('are listed with the balance after each, and saved as CSV', async () => {
    const { code, stdout } = await home.run(['movements'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/charge +-\$0\.\d+ +\$\d+\.\d+ +gpt-4o/)
    const grants = await home.run(['movements', '--kind', 'grant'])
    expect(grants.stdout).not.toContain('charge')
    const path = join(home.directory, 'ledger.csv')
    expect((await home.run(['movements', '-o', path])).code).toBe(0)
    expect(await readFile(path, 'utf8')).toBe((await home.run(['movements', '--csv'])).stdout)
  })
})

describe('the automatic top-up', () => {
  test('is set, begins to save a card, and is on only with one', async () => {
    const set = await home.run(['auto-topup', 'set', '--threshold', '1', '--amount', '5', '--ceiling', '10'])
    expect([set.code, set.stdout]).toEqual([0, expect.stringMatching(/^card +none$/m)])
    const page = await home.run(['auto-topup', 'save-card'])
    expect(page.stdout).toMatch(/^http:\S+\/checkout\/test-card\/\S+\n$/)
    expect((await home.run(['auto-topup', 'on'])).code).toBe(1)
    await fetch(`${page.stdout.trim()}/save/4242`, { method: 'POST', redirect: 'manual' })
    expect((await home.run(['auto-topup', 'on'])).stdout).toMatch(/^state +on$/m)
    expect((await home.run(['auto-topup', 'remove-card', '--yes'])).stdout).toMatch(/^state +off$/m)
  })
})

test('what the day costs is compared with the weekdays before', async () => {
  const { code, stdout } = await home.run(['anomalies'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^unusual +no$/m)])
})

test('a promo code is redeemed once', async () => {
  const { body } = await gateway.request('POST', '/v1/admin/promo-codes', { body: { amount_usd: 3 } })
  const redeemed = await home.run(['redeem', body.code])
  expect([redeemed.code, redeemed.stdout]).toEqual([0, expect.stringContaining('Redeemed $3.00')])
  expect((await home.run(['redeem', body.code])).code).toBe(1)
  const { body: other } = await gateway.request('POST', '/v1/admin/promo-codes', { body: { amount_usd: 1 } })
  expect(JSON.parse((await home.run(['redeem', other.code, '--json'])).stdout)).toMatchObject({
    code: other.code,
    amount_usd: 1,
  })
})

test.each([
  [['usage', '--by', 'colour'], 2, '--by'],
  [['usage', '--window', '2d'], 2, '--window'],
  [['usage', '--from', 'never'], 2, '--from'],
  [['usage', '--limit', '0'], 2, '--limit'],
  [['usage', '--env', 'moon'], 1, 'env'],
  [['statements', '--csv'], 2, 'month'],
  [['statements', '2026-13'], 1, 'month'],
  [['statements', '2001-01'], 4, 'statement'],
  [['statements', '2001-01', '--by', 'colour'], 2, '--by'],
  [['movements', '--kind', 'gift'], 2, '--kind'],
  [['auto-topup', 'set'], 2, '--threshold'],
  [['auto-topup', 'remove-card'], 2, 'confirmation'],
  [['budget', 'set'], 2, '--monthly'],
  [['budget', 'set', '--daily', 'x'], 2, '--daily'],
  [['budget', 'set', '--daily', '1', '--account', '01a1e900-0fc9-7eff-b14c-dd4471e0969d'], 4, 'account'],
  [['topup', 'much'], 2, 'amount'],
  [['topup', '0.1'], 1, 'amount_usd'],
  [['topup'], 2, 'missing required argument'],
  [['redeem', 'NOT-A-CODE'], 1, 'code'],
])('%j ends with %i and says why', async (words, exitCode, reason) => {
  const { code, stdout, stderr } = await home.run(words)
  expect([code, stdout]).toEqual([exitCode, ''])
  expect(stderr).toContain(reason)
})
