import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { USAGE } from '../upstreams/openai-server.ts'

export const MESSAGES = '/v1/messages'

/** The cost of the default usage of the upstream, at $1 per million input tokens and $10 per million output tokens. */
export const COST_USD = (USAGE.prompt_tokens + USAGE.completion_tokens * 10) / 1e6

/** Starts a gateway whose model `scripted` uses a local server with the chat wire. */
export function startMessagesGateway(settings: Record<string, string> = {}): Promise<ChatGateway> {
  return startChatGateway({
    models: [modelEntry('scripted', [{ provider: 'openai', model: 'upstream-model' }])],
    settings,
  })
}

/** Builds the smallest request. */
export function messagesBody(members: object = {}): object {
  return { model: 'scripted', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...members }
}

export interface NamedEvent {
  readonly name: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into events and fail loudly on a wrong shape
  readonly data: any
}

/** Parses the events of a stream. Fails if an event has no name, or a name that differs from its type. */
export function parseNamedEvents(text: string): NamedEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const found = /^event: (\w+)\ndata: (.*)$/.exec(frame)
      if (found === null) throw new Error(`not an event: ${frame}`)
      const [, name = '', json = ''] = found
      const data = JSON.parse(json)
      if (data.type !== name) throw new Error(`the event ${name} has the type ${data.type}`)
      return { name, data }
    })
}
