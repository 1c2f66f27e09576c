import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import { createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, startOpenAiServer, stream, type OpenAiServer } from '../upstreams/openai-server.ts'
import { postForm, signInTool, type SignedInTool } from './sign-in-tool.ts'

let upstream: OpenAiServer
let gateway: TestGateway
let other: TestGateway
let projectId: string

beforeAll(async () => {
  // Sends two words, then nothing more.
  upstream = await startOpenAiServer(stream(chunksOf('Hello', ' there').slice(0, 3), { ending: 'hang' }))
  const settings = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: upstream.apiUrl }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
  projectId = await createProject(gateway)
})

afterAll(async () => {
  await other.close()
  await gateway.close()
  await upstream.close()
})

/** Opens a stream on the other process. It has started and does not end by itself. */
async function openStream(key: string) {
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
  return reader
}

let people = 0

async function signInPerson(): Promise<{ person: Person; tool: SignedInTool }> {
  people += 1
  const person = await joinAccount(gateway, {
    email: `p${people}@example.com`,
    role: 'reader',
    projects: [{ id: projectId, role: 'member' }],
  })
  return { person, tool: await signInTool(gateway, person, projectId) }
}

test.each([
  ['is deactivated', (person: Person) => gateway.request('POST', `/v1/admin/users/${person.id}/deactivate`)],
  [
    'signs the tool out',
    (person: Person, tool: SignedInTool) => person.request('DELETE', `/v1/grants/${tool.grantId}`),
  ],
  [
    'has the tool sign itself out',
    (_: Person, tool: SignedInTool) => postForm(gateway, '/oauth/revoke', { token: tool.refreshToken }),
  ],
])('a stream in another process ends within a second when its person %s', async (_, end) => {
  const { person, tool } = await signInPerson()
  const reader = await openStream(tool.accessToken)
  expect((await end(person, tool)).status).toBe(200)
  const endedAt = performance.now()
  expect(await reader.until(/"error":/)).toContain('"code":"invalid_api_key"')
  expect(performance.now() - endedAt).toBeLessThan(1000)
})

test('a stream of another tool of the same person goes on', async () => {
  const { person, tool } = await signInPerson()
  const kept = await signInTool(gateway, person, projectId)
  const [reader, otherReader] = [await openStream(tool.accessToken), await openStream(kept.accessToken)]
  let hasEnded = false
  const note = () => {
    hasEnded = true
  }
  otherReader.until(/"error":/).then(note, note)
  await person.request('DELETE', `/v1/grants/${tool.grantId}`)
  await reader.until(/"error":/)
  // A stream that begins and ends after it was read by the same checks.
  const later = await signInPerson()
  const laterReader = await openStream(later.tool.accessToken)
  await later.person.request('DELETE', `/v1/grants/${later.tool.grantId}`)
  await laterReader.until(/"error":/)
  expect(hasEnded).toBe(false)
})
