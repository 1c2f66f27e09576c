import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import { openTestDatabase, type OpenDatabase } from '../payments/open-test-database.ts'
import { failureOf } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, startOpenAiServer, stream, type OpenAiServer } from '../upstreams/openai-server.ts'
import { joinWithPasskey, openBrowser, PAGE, signInWith, type TestBrowser } from './passkey-person.ts'

let upstream: OpenAiServer
let gateway: TestGateway
let other: TestGateway
let database: OpenDatabase

beforeAll(async () => {
  // Sends two words, then nothing more.
  upstream = await startOpenAiServer(stream(chunksOf('Hello', ' there').slice(0, 3), { ending: 'hang' }))
  const settings = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: upstream.apiUrl }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
  database = openTestDatabase(gateway)
})
afterAll(async () => {
  await database.close()
  await other.close()
  await gateway.close()
  await upstream.close()
})

/** Opens a stream in the session of this browser on the other process. It has started and does not end by itself. */
async function openStream(browser: TestBrowser) {
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const response = await other.fetch('POST', '/v1/chat/completions', {
    key: null,
    headers: { ...PAGE, cookie: `parkway_session=${browser.cookies.get('parkway_session') ?? ''}` },
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
  return reader
}

describe('a session that ends takes its running stream in another process along', () => {
  test.each([
    [
      'when its person signs out everywhere else',
      async (first: TestBrowser) => first.ask('DELETE', '/v1/sessions'),
    ],
    [
      'when whoever manages the members signs the person out',
      async (first: TestBrowser) => {
        const { body } = await first.ask('GET', '/v1/sessions/current')
        return gateway.request('POST', `/v1/organization/users/${body.user.id}/end_sessions`)
      },
    ],
  ])('%s', async (_, end) => {
    const { browser, passkey } = await joinWithPasskey(gateway, { role: 'owner' })
    const second = openBrowser(gateway)
    await signInWith(second, passkey)
    const reader = await openStream(second)
    expect((await end(browser)).status).toBe(200)
    const endedAtMs = performance.now()
    expect(await reader.until(/"error":/)).toContain('"code":"invalid_session"')
    expect(performance.now() - endedAtMs).toBeLessThan(1_000)
  })
})

describe('a session that began with a passkey ends', () => {
  test.each([
    ['after 12 hours without a request', `last_used_at = now() - interval '12 hours'`],
    ['a week after it began', 'expires_at = now()'],
  ])('%s', async (_, change) => {
    const { passkey } = await joinWithPasskey(gateway)
    const browser = openBrowser(gateway)
    const { body } = await signInWith(browser, passkey)
    await database.query(`UPDATE sessions SET ${change} WHERE id = '${body.id}'`)
    expect(failureOf(await browser.ask('GET', '/v1/sessions/current'))).toEqual([401, 'invalid_session'])
    const { body: listed } = await gateway.request('GET', '/v1/sessions')
    expect(listed.data.map(({ id }: { id: string }) => id)).not.toContain(body.id)
  })
})
