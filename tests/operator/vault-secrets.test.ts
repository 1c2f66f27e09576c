import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { completion, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

const TOKEN = 'hvs.of-the-gateway'
const SECRET = 'sk-in-the-vault-0123456789'
const REFERENCE = 'vault:secret/data/parkway/own#api_key'

let vault: Server
let upstream: OpenAiServer
let gateway: ChatGateway
let settings: Record<string, string>

beforeAll(async () => {
  vault = createServer(({ url, headers }, response) => {
    const isFound = headers['x-vault-token'] === TOKEN && url === '/v1/secret/data/parkway/own'
    response.statusCode = isFound ? 200 : 403
    response.end(JSON.stringify({ data: { data: { api_key: SECRET }, metadata: { version: 1 } } }))
  }).listen(0, '127.0.0.1')
  await once(vault, 'listening')
  const address = vault.address() as AddressInfo | null
  upstream = await startOpenAiServer(completion())
  settings = { VAULT_ADDR: `http://127.0.0.1:${address?.port ?? 0}`, VAULT_TOKEN: TOKEN }
  gateway = await startChatGateway({
    models: [modelEntry('vault-model', [{ provider: 'own', model: 'm', priority: 0 }])],
    settings,
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  vault.close()
})

test('a key of a provider is read from a vault, and serving goes on while the vault is away', async () => {
  const add = (reference: string) =>
    gateway.request('POST', '/v1/admin/providers', {
      body: { name: 'own', base_url: upstream.apiUrl, secret_ref: reference },
    })
  const refused = await add('vault:secret/data/other#api_key')
  expect([refused.status, refused.body.error.param]).toEqual([400, 'credentials.0'])
  const added = await add(REFERENCE)
  expect([added.status, added.body.credentials?.[0]]).toMatchObject([
    201,
    { secret_ref: REFERENCE, problem: null },
  ])
  expect(JSON.stringify(added.body)).not.toContain(SECRET)

  const ask = () => gateway.request('POST', CHAT, { body: chatBody({ model: 'vault-model' }) })
  expect((await ask()).status).toBe(200)
  expect(upstream.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${SECRET}`)

  vault.close()
  vault.closeAllConnections()
  expect((await ask()).status).toBe(200)
  const late = await startTestGateway({
    connectionString: gateway.connectionString,
    settings: { ...settings, PARKWAY_CATALOG_FILE: gateway.catalogFile },
  })
  const ready = await late.request('GET', '/readyz')
  expect([ready.status, JSON.stringify(ready.body)]).toEqual([
    200,
    expect.stringContaining('1 secret of a provider cannot be read'),
  ])
  const without = await late.request('POST', CHAT, { body: chatBody({ model: 'vault-model' }) })
  expect(without.headers.get('x-gateway-provider')).not.toBe('own')
  await late.close()
})
