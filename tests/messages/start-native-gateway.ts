import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startAnthropicServer } from '../upstreams/anthropic-server.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'

export interface NativeGateway extends ChatGateway {
  /** The server that `ANTHROPIC_BASE_URL` points to. */
  readonly anthropic: ScriptedServer
}

export const ANTHROPIC_KEY = 'sk-ant-of-the-operator'

/** Starts a gateway. Its model `claude` uses Anthropic's wire; `either` has a second route, over the chat wire. */
export async function startNativeGateway(settings: Record<string, string> = {}): Promise<NativeGateway> {
  const anthropic = await startAnthropicServer()
  const own = { provider: 'anthropic', model: 'claude-upstream', priority: 1 }
  const gateway = await startChatGateway({
    models: [
      modelEntry('claude', [own]),
      // Under another name than `claude`, because failures are counted for each name.
      modelEntry('either', [
        { ...own, model: 'either-upstream' },
        { provider: 'openai', model: 'upstream-model', priority: 2 },
      ]),
    ],
    settings: { ANTHROPIC_API_KEY: ANTHROPIC_KEY, ANTHROPIC_BASE_URL: anthropic.baseUrl, ...settings },
  })
  return {
    ...gateway,
    anthropic,
    close: async () => {
      await gateway.close()
      await anthropic.close()
    },
  }
}
