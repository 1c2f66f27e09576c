import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody } from '../../chat/start-chat-gateway.ts'
import { readEvents } from '../../chat/read-events.ts'
import { AZURE_KEY, answerAzure, startAzureServer } from '../../upstreams/clouds/azure-server.ts'
import {
  CLIENT,
  CLIENT_SECRET,
  IDENTITY_HEADER,
  startEntraServer,
  TENANT,
} from '../../upstreams/clouds/entra-server.ts'
import type { TokenServer } from '../../upstreams/clouds/token-server.ts'
import { chunksOf, failure, json, stream } from '../../upstreams/openai-server.ts'
import type { ScriptedServer } from '../../upstreams/scripted-server.ts'
import { chatModel, embeddingModel, startCloudGateway, type CloudGateway } from './start-cloud-gateway.ts'

const MINUTE_MS = 60_000
const PROVIDERS = '/v1/admin/providers'
const ASSERTION = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQifQ.c2ln'

let entra: TokenServer
let azure: ScriptedServer
let gateway: CloudGateway
let secretDocument: object

beforeAll(async () => {
  entra = await startEntraServer({ assertion: () => ASSERTION })
  azure = await startAzureServer(entra)
  secretDocument = {
    type: 'entra_client_secret',
    tenant_id: TENANT,
    client_id: CLIENT,
    client_secret: CLIENT_SECRET,
    authority_host: entra.baseUrl,
  }
  gateway = await startCloudGateway({
    models: [
      chatModel('by-token', 'azure', 'our-deployment'),
      embeddingModel('by-token-embedding', 'azure', 'our-embedding'),
      chatModel('by-key', 'azure-key', 'our-deployment'),
      chatModel('by-file', 'azure-file', 'our-deployment'),
      chatModel('by-machine', 'azure-machine', 'our-deployment'),
      chatModel('by-service', 'azure-service', 'our-deployment'),
    ],
    settings: async (directory) => {
      const tokenFile = join(directory, 'federated-token')
      await writeFile(tokenFile, `${ASSERTION}\n`)
      const ofApplication = { tenant_id: TENANT, client_id: CLIENT, authority_host: entra.baseUrl }
      const documents: Record<string, object> = {
        file: { type: 'entra_workload_identity', ...ofApplication, token_file: tokenFile },
        machine: {
          type: 'entra_managed_identity',
          endpoint: `${entra.baseUrl}/metadata/identity/oauth2/token`,
        },
        service: {
          type: 'entra_managed_identity',
          endpoint: `${entra.baseUrl}/msi/token`,
          identity_header: IDENTITY_HEADER,
        },
      }
      for (const [name, document] of Object.entries(documents))
        await writeFile(join(directory, `${name}.json`), JSON.stringify(document, null, 2))
      return {
        AZURE_OPENAI_BASE_URL: `${azure.baseUrl}/openai/v1`,
        AZURE_OPENAI_SIGN_IN: JSON.stringify(secretDocument),
        PARKWAY_REFERENCE_DIRECTORIES: directory,
      }
    },
  })
})
beforeEach(() => {
  azure.requests.length = 0
  entra.requests.length = 0
  azure.respondWith()
})
afterAll(async () => {
  await gateway.close()
  await azure.close()
  await entra.close()
})

const ask = (model: string, members: object = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) })
const add = (name: string, members: object) =>
  gateway.request('POST', PROVIDERS, {
    body: { name, vendor: 'azure', base_url: `${azure.baseUrl}/openai/v1`, ...members },
  })

describe('a deployment of Azure', () => {
  test('answers a chat whole, streamed, and over the Responses wire, and is billed by its usage', async () => {
    const whole = await ask('by-token')
    expect(whole.status).toBe(200)
    expect(whole.body).toMatchObject({ model: 'by-token', usage: { prompt_tokens: 11, cost_usd: 0.000025 } })
    expect(azure.requests.at(-1)).toMatchObject({
      path: '/openai/v1/chat/completions',
      body: { model: 'our-deployment' },
    })

    const streamed = await readEvents(
      await gateway.fetch('POST', CHAT, {
        body: chatBody({ model: 'by-token', stream: true, stream_options: { include_usage: true } }),
      }),
    )
    expect(streamed.content).toBe('Hello there')
    expect(streamed.chunks.at(-1).usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 })

    const natively = await gateway.request('POST', '/v1/responses', {
      body: { model: 'by-token', input: 'Hi', store: false },
    })
    expect(natively.body).toMatchObject({
      output: [{ content: [{ text: 'natively' }] }],
      usage: { input_tokens: 9, input_tokens_details: { cached_tokens: 4 } },
    })
  })

  test('embeds', async () => {
    const answer = await gateway.request('POST', '/v1/embeddings', {
      body: { model: 'by-token-embedding', input: ['a', 'b'] },
    })
    expect([answer.status, answer.body.data.length]).toEqual([200, 2])
  })

  test('is reached with a key in the header api-key, which no answer shows', async () => {
    const added = await add('azure-key', { api_key: AZURE_KEY })
    expect(added.status).toBe(201)
    expect((await ask('by-key')).status).toBe(200)
    const { headers } = azure.requests.at(-1) ?? {}
    expect([headers?.['api-key'], headers?.['authorization']]).toEqual([AZURE_KEY, undefined])
    expect(JSON.stringify(added.body)).not.toContain(AZURE_KEY)
  })

  test.each([
    ['the token file of a workload', 'file'],
    ['the identity of the machine', 'machine'],
    ['the identity of an App Service', 'service'],
  ])('is reached by %s, which a reference names', async (_how, name) => {
    const reference = `file:${gateway.directory}/${name}.json`
    expect((await add(`azure-${name}`, { secret_ref: reference })).status).toBe(201)
    expect((await ask(`by-${name}`)).status).toBe(200)
    expect(azure.requests.at(-1)?.headers['authorization']).toMatch(/^Bearer tok-/)
  })
})

describe('the token', () => {
  test('is asked for once by all requests at once, and used until shortly before its end', async () => {
    gateway.pass(120 * MINUTE_MS)
    const release = entra.hold()
    const answers = Array.from({ length: 8 }, () => ask('by-token'))
    await entra.requestNumber(0)
    release()
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(entra.requests).toHaveLength(1)
    gateway.pass(54 * MINUTE_MS)
    expect((await ask('by-token')).status).toBe(200)
    expect(entra.requests).toHaveLength(1)
  })

  test('is renewed before its end without a request that waits, and a failed renewal stops none', async () => {
    gateway.pass(120 * MINUTE_MS)
    await ask('by-token')
    gateway.pass(56 * MINUTE_MS)
    entra.respondWith(json({ error: 'temporarily_unavailable' }, 503))
    expect((await ask('by-token')).status).toBe(200)
    await entra.requestNumber(1)
    expect((await ask('by-token')).status).toBe(200)

    // A renewal that hangs keeps nobody waiting either.
    gateway.pass(MINUTE_MS)
    entra.respondWith()
    const release = entra.hold()
    expect((await ask('by-token')).status).toBe(200)
    await entra.requestNumber(2)
    const before = azure.requests.at(-1)?.headers['authorization']
    release()
    await expect
      .poll(async () => {
        await ask('by-token')
        return azure.requests.at(-1)?.headers['authorization'] === before
      })
      .toBe(false)
  })

  test('a token that ended early is replaced, and the client notices nothing', async () => {
    await ask('by-token')
    gateway.pass(2 * MINUTE_MS)
    entra.revokeAll()
    const before = entra.requests.length
    expect((await ask('by-token')).status).toBe(200)
    expect(entra.requests.length - before).toBe(1)
  })

  test('a refused sign-in gives an error without the tenant or the application', async () => {
    gateway.pass(120 * MINUTE_MS)
    const refused = {
      error: 'invalid_client',
      error_description: `AADSTS7000222: app ${CLIENT} of ${TENANT}`,
    }
    entra.respondWith(json(refused, 401))
    const answer = await ask('by-token')
    expect(answer.status).toBe(502)
    for (const secret of [TENANT, CLIENT, CLIENT_SECRET, 'AADSTS', azure.baseUrl])
      expect(JSON.stringify(answer.body)).not.toContain(secret)
    expect(azure.requests).toEqual([])
    entra.respondWith()
    gateway.pass(2 * MINUTE_MS)
    expect((await ask('by-token')).status).toBe(200)
  })
})

describe('a failure of Azure', () => {
  test('throttling is tried again', async () => {
    azure.respondWith(failure(429, { code: '429' }, { 'retry-after': '0' }), (request) =>
      answerAzure(request, entra),
    )
    expect((await ask('by-token')).status).toBe(200)
    expect(azure.requests).toHaveLength(2)
  })

  test('refused access tells the client nothing of the resource', async () => {
    const message = `The principal of /subscriptions/${TENANT}/resourceGroups/prod lacks access to contoso.openai.azure.com`
    azure.respondWith(failure(403, { code: 'PermissionDenied', message }))
    const answer = await ask('by-token')
    expect(answer.status).toBe(502)
    expect(JSON.stringify(answer.body)).not.toMatch(/subscriptions|contoso|1111/)
  })

  test('blame for the request is shown without the names of the resource', async () => {
    const message = `Filtered by /subscriptions/${TENANT}/resourceGroups/prod/providers/x at contoso.openai.azure.com. Shorten it.`
    azure.respondWith(failure(400, { code: 'content_filter', message }))
    const answer = await ask('by-token')
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('Shorten it')])
    expect(answer.body.error.message).not.toMatch(/1111|prod|contoso/)
  })

  test('a cut in the middle of a stream ends it with one error', async () => {
    azure.respondWith(stream(chunksOf('Hello').slice(0, 2), { ending: 'cut' }))
    const events = await readEvents(
      await gateway.fetch('POST', CHAT, { body: chatBody({ model: 'by-token', stream: true }) }),
    )
    expect([events.isDone, events.chunks.at(-1).error.type]).toEqual([false, expect.any(String)])
  })
})

describe('a document that is given over the API', () => {
  test.each([
    [
      'reads a file',
      { type: 'entra_workload_identity', tenant_id: TENANT, client_id: CLIENT, token_file: '/etc/passwd' },
    ],
    ['asks the metadata service', { type: 'entra_managed_identity' }],
    ['sends the secret to another host', () => secretDocument],
  ])('is refused if it %s', async (_what, document) => {
    const text = JSON.stringify(typeof document === 'function' ? document() : document)
    const answer = await add('azure-by-api', { api_key: text })
    expect([answer.status, answer.body.error.param]).toEqual([400, 'credentials.0'])
    expect(entra.requests).toEqual([])
  })

  test('is refused if a member is missing or the type is unknown', async () => {
    for (const document of [{ type: 'entra_client_secret', tenant_id: TENANT }, { type: 'other' }, {}]) {
      const answer = await add('azure-by-api', { api_key: JSON.stringify(document) })
      expect([answer.status, answer.body.error.param]).toEqual([400, 'credentials.0'])
    }
  })

  test('is taken with its secret, and shown without a part of it', async () => {
    const { authority_host: _host, ...document } = secretDocument as Record<string, string>
    const answer = await add('azure-by-api', { api_key: JSON.stringify(document, null, 1) })
    expect(answer.status).toBe(201)
    expect(answer.body.credentials[0].ends_with).toBeNull()
    expect(JSON.stringify(answer.body)).not.toContain(CLIENT_SECRET)
  })

  test('needs the address of the resource', async () => {
    const answer = await add('azure-by-key', { api_key: AZURE_KEY, base_url: null })
    expect([answer.status, answer.body.error.param]).toEqual([400, 'base_url'])
  })
})
