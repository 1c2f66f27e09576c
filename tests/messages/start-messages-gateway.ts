import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { USAGE } from '../upstreams/openai-server.ts'

export const MESSAGES = '/v1/messages'

/** Of what the upstream says unless told, at a dollar for a million tokens in and ten out. */
export const COST_USD = (USAGE.prompt_tokens + USAGE.completion_tokens * 10) / 1e6

/** A gateway whose model `scripted` is served by a local server that speaks the chat wire. */
export function startMessagesGateway(settings: Record<string, string> = {}): Promise<ChatGateway> {
  return startChatGateway({
    models: [modelEntry('scripted', [{ provider: 'openai', model: 'upstream-model' }])],
    settings,
  })
}

/** The smallest request. */
export function messagesBody(members: object = {}): object {
  return { model: 'scripted', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...members }
}

export interface NamedEvent {
  readonly name: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into events and fail loudly on a wrong shape
  readonly data: any
}

/** The events of a stream; fails where one has no name, or another name than its type. */
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
