/** The prebuilt answers of the mock upstream for one wire. */
export interface WireAnswers {
  readonly complete: Buffer
  readonly streamHead: Buffer
  /** Everything before the text. */
  readonly firstChunk: Buffer
  readonly chunk: Buffer
  readonly ending: Buffer
  /** For clients that ask for usage. Equal to `ending` if the wire always reports usage. */
  readonly endingWithUsage: Buffer
}

const TEXT = 'A mock answers at once, with the same bytes each time, so that only the way there counts.'
const INPUT_TOKENS = 112
const OUTPUT_TOKENS = 24
const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
)
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

export function buildChatAnswers(): WireAnswers {
  const base = { id: 'chatcmpl-mock0000000000000000', created: 1_760_000_000, model: 'gpt-4o-mini' }
  const usage = {
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: OUTPUT_TOKENS,
    total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
  const message = { role: 'assistant', content: TEXT, refusal: null }
  const complete = {
    ...base,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage,
    system_fingerprint: 'fp_mock',
  }
  const streamed = (choices: object[], extra: object = {}) =>
    dataFrame({ ...base, object: 'chat.completion.chunk', choices, ...extra })
  const delta = (content: object, finishReason: string | null) => [
    { index: 0, delta: content, logprobs: null, finish_reason: finishReason },
  ]
  const finish = streamed(delta({}, 'stop'))
  const done = Buffer.concat([chunkOf('data: [DONE]\n\n'), LAST_CHUNK])
  return {
    complete: wholeAnswer(JSON.stringify(complete)),
    streamHead: STREAM_HEAD,
    firstChunk: streamed(delta({ role: 'assistant', content: '' }, null)),
    chunk: streamed(delta({ content: ' token' }, null)),
    ending: Buffer.concat([finish, done]),
    endingWithUsage: Buffer.concat([finish, streamed([], { usage }), done]),
  }
}

/** Builds answers of Anthropic's Messages. */
export function buildMessageAnswers(): WireAnswers {
  const base = {
    id: 'msg_mock0000000000000000',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    stop_sequence: null,
  }
  const usage = {
    input_tokens: INPUT_TOKENS,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: OUTPUT_TOKENS,
  }
  const complete = { ...base, content: [{ type: 'text', text: TEXT }], stop_reason: 'end_turn', usage }
  const message = { ...base, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const ending = Buffer.concat([
    eventFrame({ type: 'content_block_stop', index: 0 }),
    eventFrame({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
    eventFrame({ type: 'message_stop' }),
    LAST_CHUNK,
  ])
  return {
    complete: wholeAnswer(JSON.stringify(complete)),
    streamHead: STREAM_HEAD,
    firstChunk: Buffer.concat([
      eventFrame({ type: 'message_start', message }),
      eventFrame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ]),
    chunk: eventFrame({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: ' token' },
    }),
    ending,
    endingWithUsage: ending,
  }
}

/** Builds answers of OpenAI's Responses. Stream events are numbered by their kind, because all chunks have the same bytes. */
export function buildResponseAnswers(): WireAnswers {
  const usage = {
    input_tokens: INPUT_TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: OUTPUT_TOKENS,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
  }
  const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const item = (status: string, content: object[]) => ({
    id: 'msg_mock0000000000000000',
    type: 'message',
    status,
    role: 'assistant',
    content,
  })
  const response = (status: string, output: object[], told: object | null) => ({
    id: 'resp_mock0000000000000000',
    object: 'response',
    created_at: 1_760_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: 'gpt-4o-mini',
    output,
    parallel_tool_calls: true,
    store: false,
    tools: [],
    tool_choice: 'auto',
    text: { format: { type: 'text' } },
    usage: told,
  })
  const completed = response('completed', [item('completed', [part(TEXT)])], usage)
  const place = { item_id: 'msg_mock0000000000000000', output_index: 0, content_index: 0 }
  const event = (type: string, members: object, number: number) =>
    eventFrame({ type, ...members, sequence_number: number })
  const begun = { response: response('in_progress', [], null) }
  const added = { output_index: 0, item: item('in_progress', []) }
  const done = { output_index: 0, item: item('completed', [part(TEXT)]) }
  const ending = Buffer.concat([
    event('response.output_text.done', { ...place, text: TEXT, logprobs: [] }, 5),
    event('response.content_part.done', { ...place, part: part(TEXT) }, 6),
    event('response.output_item.done', done, 7),
    event('response.completed', { response: completed }, 8),
    LAST_CHUNK,
  ])
  return {
    complete: wholeAnswer(JSON.stringify(completed)),
    streamHead: STREAM_HEAD,
    firstChunk: Buffer.concat([
      event('response.created', begun, 0),
      event('response.in_progress', begun, 1),
      event('response.output_item.added', added, 2),
      event('response.content_part.added', { ...place, part: part('') }, 3),
    ]),
    chunk: event('response.output_text.delta', { ...place, delta: ' token', logprobs: [] }, 4),
    ending,
    endingWithUsage: ending,
  }
}

export function wholeAnswer(json: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  )
}

function dataFrame(payload: object): Buffer {
  return chunkOf(`data: ${JSON.stringify(payload)}\n\n`)
}

function eventFrame(payload: { type: string; [member: string]: unknown }): Buffer {
  return chunkOf(`event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`)
}

function chunkOf(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}
