import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody } from '../../chat/start-chat-gateway.ts'
import { readEvents } from '../../chat/read-events.ts'
import { PNG_BASE64, PNG_DATA_URI } from '../../clients/sample-inputs.ts'
import { anthropicMessageStart, anthropicStream } from '../../upstreams/anthropic-server.ts'
import {
  POOL,
  PROJECT,
  SERVICE_ACCOUNT,
  startGoogleTokenServer,
  SUBJECT_TOKEN,
} from '../../upstreams/clouds/google-token-server.ts'
import { startVertexServer } from '../../upstreams/clouds/vertex-server.ts'
import { googleChunk, googleError, googleStream } from '../../upstreams/google-server.ts'
import { json } from '../../upstreams/openai-server.ts'
import { chatModel, embeddingModel, startCloudGateway } from './start-cloud-gateway.ts'

const MINUTE_MS = 60_000
const TOOL = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const tokens = await startGoogleTokenServer({ publicKey })
const vertex = await startVertexServer(tokens)
const serviceAccount = {
  type: 'service_account',
  project_id: PROJECT,
  private_key_id: '0123456789abcdef',
  private_key: privateKey,
  client_email: SERVICE_ACCOUNT,
  token_uri: `${tokens.baseUrl}/token`,
}
const gateway = await startCloudGateway({
  models: [
    chatModel('gemini', 'vertex', 'gemini-3-pro'),
    chatModel('claude', 'vertex', 'claude-sonnet-4-5@20250929'),
    chatModel('llama', 'vertex', 'meta/llama-4-maverick-17b-128e-instruct-maas'),
    embeddingModel('embedding', 'vertex', 'gemini-embedding-001'),
    embeddingModel('older', 'vertex', 'text-embedding-005'),
    ...['federated', 'machine', 'elsewhere'].map((name) => chatModel(name, `vertex-${name}`, 'gemini-3-pro')),
  ],
  settings: async (directory) => {
    const subject = join(directory, 'subject.json')
    await writeFile(subject, JSON.stringify({ id_token: SUBJECT_TOKEN }))
    const documents = {
      account: serviceAccount,
      federated: {
        type: 'external_account',
        audience: POOL,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${tokens.baseUrl}/v1/token`,
        service_account_impersonation_url: `${tokens.baseUrl}/v1/projects/-/serviceAccounts/${SERVICE_ACCOUNT}:generateAccessToken`,
        credential_source: { file: subject, format: { type: 'json', subject_token_field_name: 'id_token' } },
      },
      machine: {
        type: 'google_metadata',
        endpoint: `${tokens.baseUrl}/computeMetadata/v1/instance/service-accounts/default/token`,
      },
    }
    for (const [name, document] of Object.entries(documents))
      await writeFile(join(directory, `${name}.json`), JSON.stringify(document, null, 2))
    return {
      VERTEX_BASE_URL: vertex.address,
      VERTEX_SIGN_IN: join(directory, 'account.json'),
      PARKWAY_REFERENCE_DIRECTORIES: directory,
    }
  },
})
beforeEach(() => {
  vertex.requests.length = 0
  tokens.requests.length = 0
  vertex.respondWith()
  tokens.respondWith()
})
afterAll(async () => {
  await gateway.close()
  await vertex.close()
  await tokens.close()
})

const ask = (model: string, members: object = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) })
const streamChat = async (model: string, members: object = {}) =>
  readEvents(await gateway.fetch('POST', CHAT, { body: chatBody({ model, stream: true, ...members }) }))
const message = (members: object = {}) => ({
  model: 'claude',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hi' }],
  ...members,
})
const add = (name: string, members: object) =>
  gateway.request('POST', '/v1/admin/providers', {
    body: { name: `vertex-${name}`, vendor: 'vertex', base_url: vertex.address, ...members },
  })
const lastPath = () => vertex.requests.at(-1)?.path.replace(/^.*\/locations\/[^/]+/, '')

describe('Gemini on Vertex', () => {
  test('answers a chat whole and streamed, and is billed by its usage with what was cached', async () => {
    const whole = await ask('gemini')
    expect(whole.body).toMatchObject({
      choices: [{ message: { content: 'Hello there' } }],
      usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } },
    })
    expect(lastPath()).toBe('/publishers/google/models/gemini-3-pro:generateContent')
    expect((await streamChat('gemini')).content).toBe('Hello there')
    expect(lastPath()).toBe('/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse')
  })

  test.each([false, true])('calls tools (streamed: %s)', async (isStream) => {
    const calls = isStream
      ? (await streamChat('gemini', { tools: [TOOL] })).chunks.flatMap(
          ({ choices }) => choices[0]?.delta.tool_calls ?? [],
        )
      : (await ask('gemini', { tools: [TOOL] })).body.choices[0].message.tool_calls
    const text = calls
      .map((call: { function: { arguments?: string } }) => call.function.arguments ?? '')
      .join('')
    expect([calls[0].function.name, JSON.parse(text)]).toEqual(['weather', { city: 'Oslo' }])
  })

  test('sees an image', async () => {
    const content = [{ type: 'image_url', image_url: { url: PNG_DATA_URI } }]
    expect((await ask('gemini', { messages: [{ role: 'user', content }] })).status).toBe(200)
    expect(vertex.requests.at(-1)?.text).toContain(PNG_BASE64)
  })
})

describe('Claude on Vertex', () => {
  test('answers a chat whole and streamed', async () => {
    const whole = await ask('claude')
    expect(whole.body).toMatchObject({
      choices: [{ message: { content: 'Hello there' } }],
      usage: { prompt_tokens: 20, prompt_tokens_details: { cached_tokens: 8 } },
    })
    expect(lastPath()).toBe('/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict')
    expect((await streamChat('claude')).content).toBe('Hello there')
    expect(lastPath()).toBe('/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict')
  })

  test('takes Messages natively, whole and streamed, with the version in the body', async () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07', 'anthropic-version': '2023-06-01' }
    const whole = await gateway.request('POST', '/v1/messages', { body: message(), headers })
    expect(whole.body).toMatchObject({ model: 'claude', usage: { cache_read_input_tokens: 8 } })
    expect(vertex.requests[0]?.headers).toMatchObject({ 'anthropic-beta': 'context-1m-2025-08-07' })
    expect(vertex.requests[0]?.headers['anthropic-version']).toBeUndefined()
    expect(vertex.requests[0]?.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', max_tokens: 64 })
    const streamed = await readEvents(
      await gateway.fetch('POST', '/v1/messages', { body: message({ stream: true }) }),
    )
    expect(streamed.chunks.at(-1)).toMatchObject({ type: 'message_stop' })
  })
})

describe('other models on Vertex', () => {
  test('chat over the wire of OpenAI, also for a client of Messages', async () => {
    expect((await ask('llama')).body.choices[0].message.content).toBe('Hello there')
    const answer = await gateway.request('POST', '/v1/messages', { body: message({ model: 'llama' }) })
    expect(answer.body.content).toEqual([{ type: 'text', text: 'Hello there' }])
    expect(lastPath()).toBe('/endpoints/openapi/chat/completions')
    const gemini = await gateway.request('POST', '/v1/messages', { body: message({ model: 'gemini' }) })
    expect(gemini.body.content).toEqual([{ type: 'text', text: 'Hello there' }])
  })

  test('embed, as many texts at once as the model takes', async () => {
    const embed = (model: string, members: object = {}) =>
      gateway.request('POST', '/v1/embeddings', { body: { model, input: ['one', 'three'], ...members } })
    const one = await embed('embedding', { task_type: 'RETRIEVAL_QUERY' })
    expect(one.body).toMatchObject({ data: [{}, {}], usage: { prompt_tokens: 4 } })
    expect(vertex.requests.map(({ body }) => body)).toContainEqual({
      instances: [{ content: 'three', task_type: 'RETRIEVAL_QUERY' }],
      parameters: { autoTruncate: false },
    })
    vertex.requests.length = 0
    expect((await embed('older')).body.usage).toMatchObject({ prompt_tokens: 4 })
    expect(vertex.requests).toHaveLength(1)
  })
})

describe('Vertex is signed in to', () => {
  test.each([
    ['a federated token and a service account that it may be', 'federated'],
    ['the metadata server of the machine', 'machine'],
  ])('by %s, which a reference names', async (_how, name) => {
    expect((await add(name, { secret_ref: `file:${gateway.directory}/${name}.json` })).status).toBe(201)
    expect((await ask(name)).status).toBe(200)
  })

  test.each([
    [
      'reads a token of the machine',
      {
        type: 'external_account',
        audience: 'a',
        subject_token_type: 't',
        credential_source: { file: '/etc/passwd' },
      },
    ],
    ['asks the metadata server', { type: 'google_metadata' }],
    ['sends its assertion elsewhere', serviceAccount],
  ])('only by the owner of the machine if the document %s', async (_what, document) => {
    const answer = await add('elsewhere', { api_key: JSON.stringify(document) })
    expect([answer.status, answer.body.error.param]).toEqual([400, 'credentials.0'])
  })

  test('with a service account that is given over the API, and no part of it is shown', async () => {
    const { token_uri: _uri, ...document } = serviceAccount
    const added = await add('elsewhere', { api_key: JSON.stringify(document, null, 2) })
    expect([added.status, added.body.credentials[0].ends_with]).toEqual([201, null])
    expect(JSON.stringify(added.body)).not.toMatch(/PRIVATE KEY|gserviceaccount/)
  })

  test('once for all requests at once, and again when the token ended early', async () => {
    gateway.pass(120 * MINUTE_MS)
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        index % 2 === 0 ? ask('gemini') : gateway.request('POST', '/v1/messages', { body: message() }),
      ),
    )
    expect(all.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(tokens.requests).toHaveLength(1)
    gateway.pass(2 * MINUTE_MS)
    tokens.revokeAll()
    for (const model of ['gemini', 'claude']) expect((await ask(model)).status).toBe(200)
    expect(tokens.requests).toHaveLength(2)
  })
})

describe('a failure of Vertex', () => {
  test('throttling is tried again', async () => {
    for (const model of ['gemini', 'claude']) {
      vertex.respondWith(googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded'), vertex.answer)
      expect((await ask(model)).status).toBe(200)
    }
  })

  test('errors do not name the project, its number or its identities', async () => {
    const text = `Denied on //aiplatform.googleapis.com/projects/${PROJECT}/locations/x for ${SERVICE_ACCOUNT}, consumer project_number:471108150012. Use another model.`
    for (const [path, model] of [
      [CHAT, 'gemini'],
      [CHAT, 'claude'],
      ['/v1/messages', 'claude'],
    ] as const)
      for (const [status, kind] of [
        [400, 'INVALID_ARGUMENT'],
        [403, 'PERMISSION_DENIED'],
      ] as const) {
        vertex.respondWith(googleError(status, kind, text))
        const answer = await gateway.request('POST', path, { body: message({ model }) })
        expect(answer.status).toBe(status === 400 ? 400 : 502)
        expect(JSON.stringify(answer.body)).not.toMatch(/acme-prod|471108150012|gserviceaccount/)
      }
  })

  test('a refused sign-in names nothing', async () => {
    gateway.pass(120 * MINUTE_MS)
    tokens.respondWith(json({ error: 'invalid_grant', error_description: `Bad ${SERVICE_ACCOUNT}` }, 400))
    const answer = await ask('gemini')
    expect(answer.status).toBe(502)
    expect(JSON.stringify(answer.body)).not.toMatch(/acme-prod|gserviceaccount|invalid_grant/)
    gateway.pass(2 * MINUTE_MS)
  })

  test('a cut in the middle of a stream ends it with one error', async () => {
    vertex.respondWith(
      googleStream([googleChunk([{ text: 'He' }], { finishReason: undefined })], { ending: 'cut' }),
    )
    expect((await streamChat('gemini')).chunks.at(-1).error.type).toEqual(expect.any(String))
    vertex.respondWith(anthropicStream([anthropicMessageStart()], { ending: 'cut' }))
    const natively = await readEvents(
      await gateway.fetch('POST', '/v1/messages', { body: message({ stream: true }) }),
    )
    expect(natively.chunks.at(-1)).toMatchObject({ type: 'error' })
  })
})
