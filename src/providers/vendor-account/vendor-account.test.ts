import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readDeepSeekBalance, readOpenRouterBalance } from './read-balances.ts'
import { readOpenAiCosts } from './openai-costs.ts'
import { readAmount } from './vendor-account.ts'

let server: Server
let answers: Record<string, unknown> = {}
let base: string

beforeAll(async () => {
  server = createServer((request, response) => {
    const answer = answers[(request.url ?? '').replace(/\?.*/, '')]
    response.statusCode = answer === undefined ? 404 : 200
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

test.each([
  ['0.06', 0, 60_000_000n],
  [0.06, 0, 60_000_000n],
  [1e-7, 0, 100n],
  ['123.78912', 2, 1_237_891_200n],
  ['0.00000000015', 0, 0n],
  ['0.0000000005', 0, 1n],
  ['-5', 0, -5_000_000_000n],
  [12_345_678_901, 0, 12_345_678_901_000_000_000n],
])('the amount %s with %i digits is read exactly', (value, digits, nanoUsd) => {
  expect(readAmount(value, digits)).toBe(nanoUsd)
})

test.each(['', 'much', '1,5', 'NaN', null, {}, '1e999', '9'.repeat(99)])(
  'the amount %j is refused',
  (value) => {
    expect(() => readAmount(value, 0)).toThrow('no number')
  },
)

test('what is left to spend is read as each vendor says it', async () => {
  const access = { baseUrl: `${base}/api/v1`, key: 'sk' }
  answers = {
    '/user/balance': {
      is_available: true,
      balance_infos: [{ currency: 'CNY', total_balance: '110.00', granted_balance: '10.00' }],
    },
    '/api/v1/credits': { data: { total_credits: 50.5, total_usage: 50.5 } },
  }
  expect(await readDeepSeekBalance(access)).toEqual({ amount: 110, currency: 'CNY', isExhausted: false })
  expect(await readOpenRouterBalance(access)).toEqual({ amount: 0, currency: 'USD', isExhausted: true })
  answers = { '/user/balance': { is_available: true }, '/api/v1/credits': 'no JSON' }
  await expect(readDeepSeekBalance(access)).rejects.toThrow('no balance')
  await expect(readOpenRouterBalance(access)).rejects.toThrow('no JSON')
})

test('a vendor that pages for ever, or in another currency, is not believed', async () => {
  const question = { baseUrl: base, key: 'sk', from: '2026-10-01', days: 1 }
  answers = { '/organization/costs': { data: [], has_more: true, next_page: 'again' } }
  await expect(readOpenAiCosts(question)).rejects.toThrow('more pages than are read')
  const results = [{ amount: { value: 1, currency: 'eur' } }]
  answers = { '/organization/costs': { data: [{ start_time: 1, results }], has_more: false } }
  await expect(readOpenAiCosts(question)).rejects.toThrow('another currency')
})
