import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedServer,
} from './scripted-server.ts'

/** A local server that speaks Anthropic's Messages API, as its documentation shows it. */
export async function startAnthropicServer(): Promise<ScriptedServer> {
  const server = await startScriptedServer((request) =>
    isStreamAsked(request)
      ? anthropicStream(anthropicTextEvents('Hello there'))
      : anthropicMessage({ content: [{ type: 'text', text: 'Hello there' }] }),
  )
  return { ...server, baseUrl: `${server.baseUrl}/v1` }
}

const DEFAULT_USAGE = { input_tokens: 12, output_tokens: 6 }

/** Returns a complete answer of `POST /v1/messages`. */
export function anthropicMessage(fields: {
  content: readonly object[]
  stop_reason?: string
  stop_sequence?: string | null
  stop_details?: object
  usage?: object
}): ScriptedReply {
  const message = {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: DEFAULT_USAGE,
    ...fields,
  }
  return { headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(message)] }
}

export function anthropicError(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): ScriptedReply {
  const body = { type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' }
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [JSON.stringify(body)],
  }
}

export type AnthropicEvent = { type: string } & Record<string, unknown>

/** Returns an event stream. Each event is a separate packet unless `isOnePacket` is set. */
export function anthropicStream(
  events: readonly AnthropicEvent[],
  { ending = 'end', isOnePacket = false }: { ending?: ScriptedReply['ending']; isOnePacket?: boolean } = {},
): ScriptedReply {
  const chunks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return {
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    chunks: isOnePacket ? [chunks.join('')] : chunks,
    ...(ending === undefined ? {} : { ending }),
  }
}

export function anthropicMessageStart(
  usage: object = { input_tokens: 12, output_tokens: 1 },
): AnthropicEvent {
  return {
    type: 'message_start',
    message: {
      id: 'msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'claude-sonnet-5',
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  }
}

/** Returns the events of one content block: its start, one event per delta, its stop. */
export function anthropicBlock(index: number, start: object, deltas: readonly object[]): AnthropicEvent[] {
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

export function anthropicMessageEnd(
  stopReason: string,
  usage: object = { output_tokens: 6 },
): AnthropicEvent[] {
  return [
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

/** Returns a stream of one text, word by word, with the ping that the vendor sends after the first block starts. */
export function anthropicTextEvents(text: string): AnthropicEvent[] {
  const deltas = text.split(/(?<= )/).map((word) => ({ type: 'text_delta', text: word }))
  const [blockStart, ...rest] = anthropicBlock(0, { type: 'text', text: '' }, deltas)
  return [
    anthropicMessageStart(),
    ...(blockStart === undefined ? [] : [blockStart]),
    { type: 'ping' },
    ...rest,
    ...anthropicMessageEnd('end_turn'),
  ]
}

function isStreamAsked({ body }: RecordedRequest): boolean {
  return typeof body === 'object' && body !== null && 'stream' in body && body.stream === true
}
