import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { modelEntry, startChatGateway } from '../chat/start-chat-gateway.ts'
import { createOther } from '../deployments/deploy.ts'
import { click, openCheckout } from '../payments/open-checkout.ts'
import { completion, failure } from '../upstreams/openai-server.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(() =>
  startChatGateway({
    models: [modelEntry('cheap', [{ provider: 'openai', model: 'upstream' }])],
    settings: { PARKWAY_ALLOW_TEST_CHECKOUT: 'true' },
  }),
)
const MISSING = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'
/** Nothing is tried with it, so that the audit log does not name it. */
const UNTOUCHED = '01a1e900-0fc9-7eff-b14c-dd4471e0969e'

const read = async (path: string) => (await gateway.request('GET', path)).body
const admin = (...words: string[]) => home.run(['admin', ...words])
const createAccount = async (name: string): Promise<string> => {
  const made = await admin('accounts', 'create', name, '--credit', '10')
  return made.stdout.trim()
}
const parseLines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('accounts', () => {
  test('are made, searched, shown, suspended and activated', async () => {
    const account = await createAccount('Acme')
    const found = await admin('accounts', '--search', 'acme')
    expect(found.stdout).toMatch(new RegExp(`^${account} +active +\\$10\\.00 `, 'm'))
    const { data } = await read('/v1/admin/accounts?search=acme')
    expect(parseLines((await admin('accounts', 'list', '--search', 'acme', '--json')).stdout)).toEqual(data)
    const shown = await admin('accounts', 'show', account)
    expect(shown.stdout).toMatch(/^budget a day +none$/m)
    expect(JSON.parse((await admin('accounts', 'show', account, '--json')).stdout)).toEqual(
      await read(`/v1/admin/accounts/${account}`),
    )
    expect((await admin('accounts', 'suspend', account)).code).toBe(2)
    const suspended = await admin('accounts', 'suspend', '--yes', '--reason', 'Invoice 17', account)
    expect(suspended.stdout).toBe('Acme is suspended.\n')
    expect((await admin('accounts', 'show', account)).stdout).toMatch(/^suspended because +Invoice 17$/m)
    expect((await read(`/v1/admin/accounts/${account}`)).status).toBe('suspended')
    expect((await admin('accounts', 'activate', account)).stdout).toBe('Acme is active.\n')
  })
})

describe('credit', () => {
  test('is given once for one word, and taken back', async () => {
    const account = await createAccount('Globex')
    const give = ['credit', account, '5', '--reason', 'invoice', '--once', 'invoice-7', '--yes']
    expect((await admin(...give)).stdout).toBe('The balance of Globex is $15.00.\n')
    expect((await admin(...give)).code).toBe(0)
    expect((await read(`/v1/admin/accounts/${account}`)).balance_usd).toBe(15)
    const taken = await admin('credit', '--reason', 'mistake', '--yes', '--json', '--', account, '-3')
    expect(JSON.parse(taken.stdout)).toMatchObject({ amount_usd: -3, balance_usd: 12, reason: 'mistake' })
    expect((await admin('credit', account, '5', '--yes')).code).toBe(2)
    expect((await admin('credit', account, '5', '--reason', 'x')).code).toBe(2)
  })
})

test('a payment is refunded with a reason, once for one word', async () => {
  const { url, key } = await openCheckout(gateway)
  await click(url, 'pay')
  const history = async () => (await gateway.request('GET', '/v1/payments/history', { key })).body.data
  const [{ id }] = await history()
  const give = ['refund', id, '--amount', '5', '--reason', 'Paid twice', '--once', 'twice', '--yes']
  for (let count = 0; count < 2; count += 1)
    expect((await admin(...give)).stdout).toBe('The payment of $20.00 is partially refunded.\n')
  expect((await history()).filter(({ kind }: { kind: string }) => kind === 'refund')).toMatchObject([
    { reason: 'Paid twice', amount_usd: -5 },
  ])
  expect((await admin('refund', id)).code).toBe(2)
})

describe('promo codes', () => {
  test('are made, listed and disabled', async () => {
    const made = await admin(
      'promo',
      'create',
      '5',
      '--code',
      'WELCOME-2030',
      '--max',
      '10',
      '--credit-days',
      '30',
    )
    expect([made.code, made.stdout]).toEqual([0, 'WELCOME-2030\n'])
    const { data } = await read('/v1/admin/promo-codes')
    expect(data[0]).toMatchObject({ redemptions_max: 10, credit_expires_in_days: 30 })
    expect(parseLines((await admin('promo', 'list', '--json')).stdout)).toEqual(data)
    expect((await admin('promo')).stdout).toMatch(/WELCOME-2030 +\$5\.00 +0 of 10 +- +valid$/m)
    const disabled = await admin('promo', 'disable', data[0].id)
    expect(disabled.stdout).toContain('WELCOME-2030 is disabled')
    expect((await home.run(['redeem', 'WELCOME-2030'])).code).toBe(1)
  })
})

test('the audit log tells what was done', async () => {
  const account = await createAccount('Initech')
  await gateway.request('POST', `/v1/admin/accounts/${account}/suspend`)
  const { data } = await read(`/v1/admin/audit?target_id=${account}`)
  const shown = await admin('audit', '--target', account, '--json')
  expect(parseLines(shown.stdout)).toEqual(data)
  expect((await admin('audit', '--target', account)).stdout).toMatch(
    / account\.suspend +done +account Initech .*status: "active" → "suspended"/,
  )
  expect((await admin('audit', '--account', account, '--action', 'account.create', '--csv')).stdout).toMatch(
    /^time,id,action[^\r]*\r\n[^\r]*,account\.create,done,[^\r]*\r\n$/,
  )
  expect((await admin('audit', '--target', UNTOUCHED)).stderr).toBe('Nothing was done.\n')
})

test('providers are added, get new keys and are removed, and no key is an argument', async () => {
  const { apiUrl } = gateway.upstream
  const typing = (stdin: string, ...words: string[]) => home.run(['admin', 'providers', ...words], { stdin })
  const added = await typing('key-of-the-basement\n', 'add', 'basement', '--own', '--url', apiUrl)
  expect([added.code, added.stdout]).toEqual([0, 'basement serves 0 models of the catalog from now on.\n'])
  gateway.upstream.respondWith({ chunks: [JSON.stringify({ data: [{ id: 'llama' }] })] })
  expect((await admin('providers', 'models', 'basement')).stdout).toBe('llama\n')
  expect(gateway.upstream.requests.at(-1)?.headers['authorization']).toBe('Bearer key-of-the-basement')
  const rotated = await typing('another-key-of-it\n', 'rotate', 'basement')
  expect([rotated.code, rotated.stdout]).toEqual([0, 'basement uses the new key.\n'])
  const changes = join(home.directory, 'network.yaml')
  await writeFile(changes, 'timeouts: { first_byte_ms: 30000 }\n')
  expect((await admin('providers', 'set', 'basement', changes)).stdout).toBe('basement is changed.\n')
  expect(await read('/v1/admin/providers/basement')).toMatchObject({ timeouts: { first_byte_ms: 30_000 } })
  expect((await admin('providers', 'remove', 'basement')).code).toBe(2)
  expect((await admin('providers', 'remove', '--yes', 'basement')).stdout).toBe('basement is removed.\n')
  expect((await typing('', 'add', 'basement', '--own', '--url', apiUrl)).code).toBe(2)
})

test('providers are listed and tested', async () => {
  expect((await admin('providers')).stdout).toMatch(/^openai +configured +\d+ /m)
  expect((await admin('providers', 'list', '--all')).stdout).toMatch(/^anthropic +needs /m)
  gateway.upstream.respondWith(completion())
  const passed = await admin('providers', 'test', 'openai', '-m', 'cheap')
  expect([passed.code, passed.stdout]).toEqual([
    0,
    expect.stringMatching(/^openai answered with upstream in \d+ ms\.\n$/),
  ])
  gateway.upstream.respondWith(failure(401, {}))
  const failed = await admin('providers', 'test', 'openai', '-m', 'cheap')
  expect([failed.code, failed.stdout]).toEqual([1, ''])
  expect(failed.stderr).toContain('openai failed')
  const json = await admin('providers', 'test', 'openai', '-m', 'cheap', '--json')
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { object: 'provider_test', is_ok: false }])
})

test.each([
  [['accounts', 'show', MISSING], 4],
  [['accounts', 'suspend', '--yes', MISSING], 4],
  [['accounts', '--status', 'asleep'], 1],
  [['credit', MISSING, '5', '--reason', 'x', '--yes'], 4],
  [['credit', MISSING, 'much', '--reason', 'x', '--yes'], 2],
  [['promo', 'create', 'much'], 2],
  [['promo', 'create', '5', '--expires', 'soon'], 2],
  [['promo', 'disable', MISSING], 4],
  [['providers', 'test', 'nobody'], 4],
  [['nonsense'], 2],
])('admin %j ends with %i', async (words, exitCode) => {
  const { code, stdout, stderr } = await admin(...words)
  expect([code, stdout]).toEqual([exitCode, ''])
  expect(stderr).not.toBe('')
})

test('a key that does not operate the gateway is refused', async () => {
  const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: await createOther(gateway) }
  for (const words of [['accounts'], ['promo'], ['audit'], ['providers']])
    expect((await home.run(['admin', ...words], { environment })).code).toBe(1)
})
