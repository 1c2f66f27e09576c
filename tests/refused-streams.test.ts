import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readPieces } from './chat/read-events.ts'
import { createAccount, type TestAccount } from './payments/accounts.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'
import { chunksOf, silence, startOpenAiServer, stream, type OpenAiServer } from './upstreams/openai-server.ts'

let upstream: OpenAiServer
let gateway: TestGateway
let other: TestGateway

beforeAll(async () => {
  // Sends two words, then nothing more.
  upstream = await startOpenAiServer(stream(chunksOf('Hello', ' there').slice(0, 3), { ending: 'hang' }))
  const settings = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: upstream.apiUrl }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
})

afterAll(async () => {
  await other.close()
  await gateway.close()
  await upstream.close()
})

/** Opens a stream with this key on the other process. It has started and does not end by itself. */
async function openStream({ key }: { key: string }) {
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const response = await other.fetch('POST', '/v1/chat/completions', {
    key,
    body: {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      max_tokens: 500,
    },
    signal: leave.signal,
  })
  const reader = readPieces(response)
  await reader.until(/there/)
  return { requestId: response.headers.get('x-request-id'), reader }
}

async function expectEnd(
  account: TestAccount,
  { reader, requestId }: Awaited<ReturnType<typeof openStream>>,
  code: string,
): Promise<void> {
  const text = await reader.until(/"error":/)
  expect(text).toContain(`"code":"${code}"`)
  expect(text).not.toContain('[DONE]')
  await expect(reader.until(/\[DONE\]/)).rejects.toThrow()
  await expect
    .poll(async () => {
      const path = `/v1/admin/accounts/${account.accountId}/ledger`
      const { body } = await gateway.request('GET', path)
      return body.data.filter(({ kind }: { kind: string }) => kind === 'charge').length
    })
    .toBe(1)
  expect(requestId).not.toBeNull()
}

describe('a running stream in another process ends with an error frame and is charged', () => {
  test('when its key is revoked', async () => {
    const account = await createAccount(gateway, { creditUsd: 1 })
    const running = await openStream(account)
    await gateway.request('DELETE', `/v1/admin/accounts/${account.accountId}/api-keys/${account.keyId}`)
    await expectEnd(account, running, 'invalid_api_key')
  })

  test('when its account is suspended', async () => {
    const account = await createAccount(gateway, { creditUsd: 1 })
    const running = await openStream(account)
    await gateway.request('POST', `/v1/admin/accounts/${account.accountId}/suspend`)
    await expectEnd(account, running, 'account_suspended')
  })

  test('when its key expires', async () => {
    const account = await createAccount(gateway, { creditUsd: 1 })
    const expiresAt = new Date(Date.now() + 2_000).toISOString()
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      key: account.key,
      body: { expires_at: expiresAt },
    })
    const running = await openStream(key)
    await expectEnd(account, running, 'invalid_api_key')
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
  })
})

describe('an answer in progress at a vendor is refused and charged', () => {
  const works: readonly [string, string, object][] = [
    [
      'a chat',
      '/v1/chat/completions',
      { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 500 },
    ],
    ['speech', '/v1/audio/speech', { model: 'tts-1', input: 'Hello' }],
    ['an image', '/v1/images/generations', { model: 'gpt-image-1.5', prompt: 'A cube' }],
    ['an embedding', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello' }],
  ]

  test.each(works)('when its key is revoked in the middle: %s', async (_name, path, body) => {
    const silent = await startOpenAiServer(silence)
    const settings = {
      OPENAI_API_KEY: 'sk-upstream',
      OPENAI_BASE_URL: silent.apiUrl,
      PARKWAY_DRAIN_MS_MAX: '200',
    }
    const third = await startTestGateway({ settings, connectionString: gateway.connectionString })
    onTestFinished(async () => {
      await third.close()
      await silent.close()
    })
    const account = await createAccount(gateway, { creditUsd: 1 })
    const asking = third.request('POST', path, { key: account.key, body })
    await silent.requestNumber(0)
    await gateway.request('DELETE', `/v1/admin/accounts/${account.accountId}/api-keys/${account.keyId}`)
    const { status, body: answer } = await asking
    expect([status, answer.error.code]).toEqual([401, 'invalid_api_key'])
    await expect
      .poll(async () => {
        const path = `/v1/admin/accounts/${account.accountId}/ledger`
        const { body: ledger } = await gateway.request('GET', path)
        const charges = ledger.data.filter(({ kind }: { kind: string }) => kind === 'charge')
        return charges.map(({ amount_usd: amountUsd }: { amount_usd: number }) => amountUsd < 0)
      })
      .toEqual([true])
  })
})

test('a change that refuses nothing does not affect running streams', async () => {
  const account = await createAccount(gateway, { creditUsd: 1 })
  const kept = await openStream(account)
  let hasEnded = false
  const noteEnd = () => {
    hasEnded = true
  }
  kept.reader.until(/"error":/).then(noteEnd, noteEnd)
  await gateway.request('PATCH', `/v1/tenants/me/api-keys/${account.keyId}`, {
    key: account.key,
    body: { name: 'renamed' },
  })
  const { body: second } = await gateway.request('POST', '/v1/tenants/me/api-keys', { key: account.key })
  const watched = await openStream(second)
  // When this stream ends, the other process has also handled the earlier change.
  await gateway.request('DELETE', `/v1/tenants/me/api-keys/${second.id}`, { key: account.key })
  expect(await watched.reader.until(/"error":/)).toContain('invalid_api_key')
  expect(hasEnded).toBe(false)
})

test('200: a key that revokes itself gets the answer', async () => {
  const account = await createAccount(gateway)
  const { status } = await other.request('DELETE', `/v1/tenants/me/api-keys/${account.keyId}`, {
    key: account.key,
  })
  expect(status).toBe(200)
})
