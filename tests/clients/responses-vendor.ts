import {
  messageItem,
  RESPONSE_USAGE,
  responseObject,
  responseStart,
  responseStream,
  startResponsesServer,
  wholeResponse,
  type ResponseEvent,
} from '../upstreams/openai-responses-server.ts'
import { openAiError } from './openai-server.ts'
import { joinAfter, NO_PARTS, type Vendor } from './vendors.ts'

/** OpenAI through its Responses API, which the gateway uses only for clients of that wire. */
export const openAiNatively: Vendor = {
  name: 'GPT through OpenAI’s Responses',
  model: 'gpt-5.4-mini',
  provider: 'openai',
  isReasoningSigned: false,
  usage: [RESPONSE_USAGE.input_tokens, RESPONSE_USAGE.output_tokens],
  isReasoningCounted: true,
  start: startResponsesServer,
  settings: (baseUrl) => ({ OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: baseUrl }),
  say: (answer) => (request) => {
    const output = itemsOf(answer)
    const { body } = request
    const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    const { cached, reasoning } = answer.parts ?? NO_PARTS
    const usage = {
      ...RESPONSE_USAGE,
      input_tokens_details: { cached_tokens: cached },
      output_tokens_details: { reasoning_tokens: reasoning },
    }
    const members = { output, usage, ...(answer.isTooLong ? incomplete : {}) }
    if (!isStream) return wholeResponse(members)
    const response = responseObject(members)
    return responseStream([
      ...responseStart(),
      ...output.flatMap(eventsOf),
      { type: answer.isTooLong ? 'response.incomplete' : 'response.completed', response },
    ])
  },
  stall: (text) =>
    responseStream([...responseStart(), ...eventsOf(messageItem(text), 0).slice(0, -1)], { ending: 'hang' }),
  breakDown: (text, message, mayFail) => {
    const beginning = [...responseStart(), ...eventsOf(messageItem(text), 0).slice(0, -1)]
    const error = { type: 'error', code: 'server_error', message, param: null }
    const { chunks } = responseStream([...beginning, error])
    return joinAfter(mayFail, responseStream(beginning), { chunks: chunks.slice(-1) })
  },
  refuse: openAiError,
}

function itemsOf({ reasoning, text, toolCalls = [] }: Parameters<Vendor['say']>[0]): object[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: reasoning }] }]),
    ...(text === undefined ? [] : [messageItem(text)]),
    ...toolCalls.map(({ id, name, input }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ]
}

/** Returns the events of an output item that clients read. */
function eventsOf(item: object, index: number): ResponseEvent[] {
  const {
    type,
    id,
    arguments: given,
    summary,
    content,
  } = {
    type: '',
    id: '',
    arguments: '',
    summary: [{ text: '' }],
    content: [{ text: '' }],
    ...item,
  }
  const place = { item_id: id, output_index: index }
  const start = { ...item, arguments: '', summary: [], content: [], status: 'in_progress' }
  const middle: Readonly<Record<string, ResponseEvent>> = {
    message: {
      type: 'response.output_text.delta',
      ...place,
      content_index: 0,
      delta: content[0]?.text ?? '',
    },
    reasoning: {
      type: 'response.reasoning_summary_text.delta',
      ...place,
      summary_index: 0,
      delta: summary[0]?.text ?? '',
    },
    function_call: { type: 'response.function_call_arguments.delta', ...place, delta: given },
  }
  const delta = middle[type]
  return [
    { type: 'response.output_item.added', output_index: index, item: start },
    ...(delta === undefined ? [] : [delta]),
    { type: 'response.output_item.done', output_index: index, item },
  ]
}
