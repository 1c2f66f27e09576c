import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../settings/config.ts'
import { checkCertificate, checkProviders, readProviders } from './check-providers.ts'
import { codes, expectMended } from './testing/expect-mended.ts'
import { createExaminer } from './share-examination.ts'

const DAY_MS = 86_400_000

describe('a provider that does not serve is found', () => {
  let server: Server
  let baseUrl: string

  beforeAll(async () => {
    server = createServer((request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer good' ? 200 : 401
      if (request.url?.startsWith('/broken') === true) response.statusCode = 503
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  test.each([
    ['provider_key_refused', () => ({ name: 'one', baseUrl, apiKeys: ['bad'] })],
    ['provider_failing', () => ({ name: 'one', baseUrl: `${baseUrl}/broken`, apiKeys: ['good'] })],
    ['provider_unreachable', () => ({ name: 'one', baseUrl: 'http://127.0.0.1:1', apiKeys: ['good'] })],
  ])('%s', async (code, address) => {
    const findings = checkProviders(await readProviders([address()]), Date.now())
    expectMended(findings, code)
    expect(JSON.stringify(findings)).not.toMatch(/good|bad/)
  })

  test('one that answers has none, nor one whose key cannot be tried', async () => {
    const answering = [
      { name: 'one', baseUrl, apiKeys: ['good'] },
      { name: 'other', baseUrl, apiKeys: [] },
      { name: 'unknown', baseUrl: null, apiKeys: ['key'] },
    ]
    expect(checkProviders(await readProviders(answering), Date.now())).toEqual([])
  })

  test.each([
    [9.5, false, 'warning'],
    [0, true, 'critical'],
  ])('one where %d dollars are left to spend', async (amount, isExhausted, level) => {
    const readBalance = async () => ({ amount, currency: 'USD', isExhausted })
    const address = { name: 'one', baseUrl, apiKeys: ['good'], readBalance }
    const findings = checkProviders(await readProviders([address]), Date.now())
    expect(findings).toEqual([expect.objectContaining({ code: 'vendor_balance_low', subject: 'one', level })])
    const unread = { ...address, readBalance: () => Promise.reject(new Error('no right to')) }
    expect(checkProviders(await readProviders([unread]), Date.now())).toEqual([])
  })

  test('one of several keys that it refuses', async () => {
    const findings = checkProviders(
      await readProviders([{ name: 'one', baseUrl, apiKeys: ['good', 'bad'] }]),
      Date.now(),
    )
    expect(findings).toEqual([
      expect.objectContaining({ code: 'provider_key_refused', message: 'It refuses key 2 of 2 with 401.' }),
    ])
  })

  test.each([
    ['in a year', 365, []],
    ['in a week', 7, ['warning']],
    ['tomorrow', 1, ['critical']],
    ['yesterday', -1, ['critical']],
  ])('a certificate that ends %s', (_when, days, levels) => {
    const findings = checkCertificate('one', days * DAY_MS, 0)
    expect(findings.map(({ level }) => level)).toEqual(levels)
  })
})

test('providers that operators added are looked at as well, with secrets that cannot be read', async () => {
  const examine = createExaminer({
    config: loadConfig({ environment: {}, file: null }),
    database: { query: () => Promise.reject(new Error('away')) } as never,
    metrics: { figures: () => ({ breakers: [] }) } as never,
    offer: {
      listProviders: () => [{ name: 'added' }, { name: 'closed' }] as never,
      openedSettingsOf: (name) =>
        name === 'added' ? { baseUrl: 'http://127.0.0.1:1', apiKeys: ['key'] } : undefined,
      listProblems: () => [
        { provider: 'closed', of: 'credential', credentialId: null, problem: 'The file is not there.' },
      ],
    },
  })
  const { findings } = await examine()
  expect(findings).toContainEqual(expect.objectContaining({ code: 'provider_unreachable', subject: 'added' }))
  expect(findings).toContainEqual(
    expect.objectContaining({ code: 'provider_secret_unreadable', subject: 'closed' }),
  )
  expect(codes(findings)).not.toContain('no_provider')
})
