import type { TestGateway } from '../support/start-test-gateway.ts'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, failure, stream, type RecordedRequest, type Reply } from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'

/** What a model says to a request. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into bodies and fail loudly on a wrong shape
export type Speaker = (body: any) => string

/** A gateway whose models are played by one local server, each by its own name: a dollar in, ten out for a million tokens. */
export function startCompareGateway(
  models: readonly string[],
  settings: Record<string, string> = {},
): Promise<ChatGateway> {
  return startChatGateway({
    models: models.map((model) =>
      // What fails has a provider of its own, so that nobody else is taken to be down.
      modelEntry(model, [{ provider: model === 'broken' ? 'groq' : 'openai', model }]),
    ),
    providers: ['groq'],
    settings,
  })
}

/** Who answers by the name of the model; nobody's name is a failure. */
export function speakers(table: Readonly<Record<string, ScriptedReply | Speaker>>): Reply {
  return ({ body }: RecordedRequest) => {
    const speaker = table[String(Object(body).model)]
    if (speaker === undefined) return failure(500)
    return typeof speaker === 'function' ? stream(chunksOf(speaker(body))) : speaker
  }
}

/** A key of a new account that may do everything, with or without credit. */
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
