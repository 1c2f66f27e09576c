import { startScriptedServer, type ScriptedReply, type ScriptedServer } from './scripted-server.ts'

/** Starts a local server for OpenAI's Responses API, as its documentation describes it. */
export async function startResponsesServer(): Promise<ScriptedServer> {
  const server = await startScriptedServer(({ body }) => {
    const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true
    return isStream ? responseStream(responseTextEvents('Hello there')) : wholeResponse()
  })
  return { ...server, baseUrl: `${server.baseUrl}/v1` }
}

export const RESPONSE_USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 6,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 18,
}

const ID = 'resp_68af4030baa48193b0b43b4c2a176a1a'
const MESSAGE_ID = 'msg_68af40337e58819392e935fb404414d0'

export function messageItem(text: string): object {
  return {
    id: MESSAGE_ID,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}

export function responseObject(members: object = {}): object {
  return {
    id: ID,
    object: 'response',
    created_at: 1_756_315_696,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: 'gpt-upstream',
    output: [messageItem('Hello there')],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    usage: RESPONSE_USAGE,
    metadata: {},
    ...members,
  }
}

export function wholeResponse(members: object = {}): ScriptedReply {
  return {
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(responseObject(members))],
  }
}

export type ResponseEvent = { type: string } & Record<string, unknown>

/** Numbers the events and returns a stream with one packet per event. */
export function responseStream(
  events: readonly ResponseEvent[],
  { ending = 'end' }: { ending?: NonNullable<ScriptedReply['ending']> } = {},
): ScriptedReply {
  return {
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    chunks: events.map(({ type, ...members }, sequence) => {
      const data = JSON.stringify({ type, sequence_number: sequence, ...members })
      return `event: ${type}\ndata: ${data}\n\n`
    }),
    ending,
  }
}

export function responseStart(): ResponseEvent[] {
  const response = responseObject({ status: 'in_progress', output: [], usage: null })
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
  ]
}

export function responseTextEvents(text: string, members: object = {}): ResponseEvent[] {
  const place = { item_id: MESSAGE_ID, output_index: 0, content_index: 0 }
  const item = { id: MESSAGE_ID, type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  return [
    ...responseStart(),
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...place, part },
    ...text
      .split(/(?<= )/)
      .map((delta) => ({ type: 'response.output_text.delta', ...place, delta, obfuscation: 'x7' })),
    { type: 'response.output_text.done', ...place, text },
    { type: 'response.content_part.done', ...place, part: { ...part, text } },
    { type: 'response.output_item.done', output_index: 0, item: messageItem(text) },
    { type: 'response.completed', response: responseObject({ output: [messageItem(text)], ...members }) },
  ]
}
