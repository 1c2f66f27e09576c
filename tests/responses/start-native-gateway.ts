import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startResponsesServer } from '../upstreams/openai-responses-server.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'

export interface NativeGateway extends ChatGateway {
  /** The server that `OPENAI_BASE_URL` points to. */
  readonly openai: ScriptedServer
}

export const RESPONSES = '/v1/responses'

/** Starts a gateway. Its model `gpt` uses OpenAI's Responses wire; `either` has a second route, over the chat wire. */
export async function startNativeGateway(settings: Record<string, string> = {}): Promise<NativeGateway> {
  const openai = await startResponsesServer()
  const own = { provider: 'openai', model: 'gpt-upstream', priority: 1 }
  const gateway = await startChatGateway({
    models: [
      modelEntry('gpt', [own]),
      modelEntry('either', [own, { provider: 'groq', model: 'upstream-model', priority: 2 }]),
    ],
    providers: ['groq'],
    settings: { OPENAI_BASE_URL: openai.baseUrl, OPENAI_WIRES: '', ...settings },
  })
  return {
    ...gateway,
    openai,
    close: async () => {
      await gateway.close()
      await openai.close()
    },
  }
}

export interface NumberedEvent {
  readonly name: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into events and fail loudly on a wrong shape
  readonly data: any
}

/** Parses the events of a stream. Fails if a name differs from its type, or if a number is missing. */
export function parseNumberedEvents(text: string): NumberedEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame, index) => {
      const [, name = '', json = 'null'] = /^event: ([\w.]+)\ndata: (.*)$/.exec(frame) ?? []
      const data = JSON.parse(json)
      if (data?.type !== name || data.sequence_number !== index)
        throw new Error(`not event ${index}: ${frame}`)
      return { name, data }
    })
}
