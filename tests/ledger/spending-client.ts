import { Agent, request, type IncomingMessage } from 'node:http'
import { CHAT } from '../chat/start-chat-gateway.ts'

/** The outcome of one request, as the client sees it. */
export interface Call {
  readonly content: string
  /** Null if the connection broke before the status arrived. */
  readonly status: number | null
  readonly requestId: string | null
  /** True if the whole body arrived, for a stream up to `[DONE]`. */
  readonly isComplete: boolean
  readonly code: string | null
  readonly message: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

export interface Caller {
  call(url: string, key: string, body: object, headers?: Record<string, string>): Promise<Call>
  close(): void
}

/** Creates a client with its own keep-alive connections. */
export function createCaller(): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  return {
    call: (url, key, body, headers) => sendCall(agent, url, key, body, headers),
    close: () => agent.destroy(),
  }
}

function sendCall(
  agent: Agent,
  url: string,
  key: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Call> {
  const content = contentOf(body)
  return new Promise((resolve) => {
    const outgoing = request(url + CHAT, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    })
    outgoing.on('error', () => resolve(cutCall(content, null, '')))
    outgoing.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('error', () => {})
      response.on('close', () => resolve(readCall(content, response, text)))
    })
    outgoing.end(JSON.stringify(body))
  })
}

function readCall(content: string, response: IncomingMessage, text: string): Call {
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
  const isWhole = response.complete && (!isStream || text.endsWith('data: [DONE]\n\n'))
  if (!isWhole) return cutCall(content, response, text)
  const error = response.statusCode === 200 ? null : JSON.parse(text).error
  return {
    ...cutCall(content, response, text),
    isComplete: true,
    code: error?.code ?? null,
    message: error?.message ?? '',
  }
}

function cutCall(content: string, response: IncomingMessage | null, text: string): Call {
  return {
    content,
    status: response?.statusCode ?? null,
    requestId: response === null ? null : String(response.headers['x-request-id']),
    isComplete: false,
    code: null,
    message: '',
    headers: response?.headers ?? {},
    text,
  }
}

function contentOf(body: object): string {
  const { messages } = { messages: [{ content: '' }], ...body }
  return String(messages.at(-1)?.content)
}
