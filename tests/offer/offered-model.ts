import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'

export const MODELS = '/v1/admin/models'

/** Two gateways on one database, with OpenAI at a local server. */
export interface TwoGateways {
  readonly gateway: ChatGateway
  readonly second: TestGateway
  close(): Promise<void>
}

export async function startTwoGateways(models: readonly object[] = []): Promise<TwoGateways> {
  const gateway = await startChatGateway({ models })
  const second = await startTestGateway({
    connectionString: gateway.connectionString,
    settings: {
      OPENAI_API_KEY: 'sk-upstream-credential',
      OPENAI_BASE_URL: gateway.upstream.apiUrl,
      OPENAI_WIRES: 'openai-chat',
      PARKWAY_CATALOG_FILE: gateway.catalogFile,
    },
  })
  return {
    gateway,
    second,
    close: async () => {
      await second.close()
      await gateway.close()
    },
  }
}

/** $1 for a million tokens of input, $10 for output. */
export const PRICE = { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10 }

export function offeredModel(id: string, members: object = {}): object {
  return {
    id,
    name: id,
    vendor: 'Test',
    category: 'llm',
    context_tokens: 100_000,
    capabilities: ['chat'],
    price: PRICE,
    routes: [{ provider: 'openai', model: `upstream-${id}` }],
    ...members,
  }
}

export function addModel(gateway: TestGateway, id: string, members: object = {}): Promise<TestAnswer> {
  return gateway.request('POST', MODELS, { body: offeredModel(id, members) })
}

export function askModel(gateway: TestGateway, model: string, key?: string): Promise<TestAnswer> {
  return gateway.request('POST', CHAT, { body: chatBody({ model }), ...(key === undefined ? {} : { key }) })
}

/** Returns the key of another account with credit. */
export async function createOther(gateway: TestGateway): Promise<string> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'other', credit_usd: 10 },
  })
  const { body } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { env: 'dev', scopes: ['inference', 'manage'] },
  })
  return body.key
}
