import type { TestGateway } from '../support/start-test-gateway.ts'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, failure, stream, type RecordedRequest, type Reply } from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'

/** Returns the text with which a model answers a request. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into bodies and fail loudly on a wrong shape
export type Speaker = (body: any) => string

/** Starts a gateway whose models all use one local server. Per million tokens: $1 input, $10 output. */
export function startCompareGateway(
  models: readonly string[],
  settings: Record<string, string> = {},
): Promise<ChatGateway> {
  return startChatGateway({
    models: models.map((model) =>
      // The failing model has its own provider, so that its failures do not mark the other models as down.
      modelEntry(model, [{ provider: model === 'broken' ? 'groq' : 'openai', model }]),
    ),
    providers: ['groq'],
    // Many tests cancel calls that never end.
    settings: { PARKWAY_DRAIN_MS_MAX: '200', ...settings },
  })
}

/** Starts another process on the same database. It works on no runs. */
export function startFrontGateway(
  { connectionString }: Pick<ChatGateway, 'connectionString'>,
  models: readonly string[],
): Promise<ChatGateway> {
  return startChatGateway({
    models: models.map((model) => modelEntry(model, [{ provider: 'openai', model }])),
    connectionString,
    settings: { PARKWAY_ROLE: 'api' },
  })
}

/** Selects the reply by the name of the model; answers 500 for a model that is not in the table. */
export function speakers(table: Readonly<Record<string, ScriptedReply | Speaker>>): Reply {
  return ({ body }: RecordedRequest) => {
    const speaker = table[String(Object(body).model)]
    if (speaker === undefined) return failure(500)
    return typeof speaker === 'function' ? stream(chunksOf(speaker(body))) : speaker
  }
}

/** Creates a new account and returns a key with all rights for it. */
export async function createStranger(gateway: TestGateway, creditUsd = 0): Promise<string> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'stranger' },
  })
  if (creditUsd > 0) {
    await gateway.request('POST', `/v1/admin/accounts/${account.id}/credit`, {
      body: { amount_usd: creditUsd, reason: 'test' },
    })
  }
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { env: 'dev', scopes: ['inference', 'manage', 'admin'] },
  })
  return key.key
}
