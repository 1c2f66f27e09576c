import { isRecord } from '../../../src/kernel/is-record.ts'
import { readFile } from '../files/read-file.ts'
import type { Extra } from './invoice-line.ts'
import {
  countAudio,
  countDocument,
  countPicture,
  countPrompt,
  fetchFile,
  hostedTool,
  openAiModelOf,
  tierFactor,
  type Counted,
  type OpenAiModel,
} from './openai-rules.ts'
import { parseBody } from './parse-body.ts'
import { performWork, type AnswerWire, type Asked, type Reported } from './perform-work.ts'
import { countOf, membersOf, textOf, type Members } from './read-members.ts'
import { countJson, countTokens } from './tokens.ts'
import { Refused, type VendorCall } from './vendor-server.ts'

/** `POST /v1/responses` of OpenAI. */
export async function answerResponse(call: VendorCall): Promise<void> {
  const body = parseBody(call.text, call.planned.plan.reader)
  if (body === null) throw new Refused('We could not parse the JSON body of your request.')
  const name = textOf(body['model'])
  const model = openAiModelOf(name)
  const counted = countInput(call, body, model)
  const asked: Asked = {
    model: name,
    prompt: countPrompt(call, model, counted),
    outputMax: model.outputMax,
    outputLimit: countOf(body['max_output_tokens']),
    choices: 1,
    isStream: body['stream'] === true,
    isThinking: model.isThinking && membersOf(body['reasoning'])['effort'] !== 'none',
    extras: findHostedTools(call, body),
    factor: tierFactor(body['service_tier']),
  }
  await performWork(call, asked, RESPONSES_WIRE, 'streams stop')
}

const TOKENS_PER_ITEM = 3

function countInput(call: VendorCall, body: Members, model: OpenAiModel): Counted {
  const counted = { tokens: TOKENS_PER_ITEM + countTokens(textOf(body['instructions'])), audioTokens: 0 }
  const { input } = body
  if (typeof input === 'string') counted.tokens += TOKENS_PER_ITEM + countTokens(input)
  else if (Array.isArray(input)) for (const item of input) countItem(call, counted, item, model)
  counted.tokens += countJson(body['tools']) + countJson(body['text'])
  return counted
}

function countItem(call: VendorCall, counted: Counted, item: unknown, model: OpenAiModel): void {
  if (!isRecord(item)) throw new Refused('Invalid item.')
  counted.tokens += TOKENS_PER_ITEM + countTokens(textOf(item['role']))
  for (const place of [item['content'], item['output']]) {
    if (typeof place === 'string') counted.tokens += countTokens(place)
    else if (Array.isArray(place)) for (const part of place) countPart(call, counted, membersOf(part), model)
  }
  counted.tokens += countTokens(textOf(item['arguments'])) + countJson(item['tools'])
}

function countPart(call: VendorCall, counted: Counted, part: Members, model: OpenAiModel): void {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      counted.tokens += countTokens(textOf(part['text']))
      return
    case 'input_image':
      return countPicture(counted, fetchFile(call, textOf(part['image_url'])), model, part['detail'])
    case 'input_file':
      return countDocument(counted, fetchFile(call, textOf(part['file_data'] ?? part['file_url'])), model)
    case 'input_audio': {
      const { data } = membersOf(part['input_audio'])
      return countAudio(counted, readFile(Buffer.from(textOf(data), 'base64')))
    }
    default:
      throw new Refused(`Invalid value: ${String(part['type'])}`)
  }
}

/** Tools are declared at the top, in items that were found by a search, and in namespaces: the model can use all of them. */
function findHostedTools(call: VendorCall, { tools, input }: Members): Extra[] {
  const items = Array.isArray(input) ? input.filter(isRecord) : []
  return [tools, ...items.map((item) => item['tools'])].flatMap((list) => hostedIn(call, list))
}

function hostedIn(call: VendorCall, tools: unknown): Extra[] {
  if (!Array.isArray(tools)) return []
  return tools
    .filter(isRecord)
    .flatMap((tool) => [...hostedTool(call, tool['type']), ...hostedIn(call, tool['tools'])])
}

const ID = 'resp_68af4030baa48193b0b43b4c2a176a1a'
const MESSAGE_ID = 'msg_68af40337e58819392e935fb404414d0'
const PLACE = { item_id: MESSAGE_ID, output_index: 0, content_index: 0 }

const RESPONSES_WIRE: AnswerWire = {
  start: (asked) => {
    const response = responseOf(asked, null, 'in_progress', null)
    const item = { id: MESSAGE_ID, type: 'message', status: 'in_progress', role: 'assistant', content: [] }
    return [
      event('response.created', { response }),
      event('response.in_progress', { response }),
      event('response.output_item.added', { output_index: 0, item }),
      event('response.content_part.added', { ...PLACE, part: partOf('') }),
    ]
  },
  piece: (delta) => event('response.output_text.delta', { ...PLACE, delta }),
  end: (asked, usage, text) => [
    event('response.output_text.done', { ...PLACE, text }),
    event('response.output_item.done', { output_index: 0, item: messageOf(text) }),
    event('response.completed', { response: responseOf(asked, text, 'completed', usage) }),
  ],
  whole: (asked, usage, text) => JSON.stringify(responseOf(asked, text, 'completed', usage)),
}

function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, ...members })}\n\n`
}

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
const messageOf = (text: string) => ({
  id: MESSAGE_ID,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [partOf(text)],
})

function responseOf({ model }: Asked, text: string | null, status: string, usage: Reported | null): object {
  return {
    id: ID,
    object: 'response',
    created_at: 1_756_315_696,
    status,
    error: null,
    incomplete_details: null,
    model,
    output: text === null ? [] : [messageOf(text)],
    parallel_tool_calls: true,
    store: false,
    usage: usage === null ? null : toUsage(usage),
    metadata: {},
  }
}

function toUsage(usage: Reported): object {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      ...(usage.cacheWriteTokens === undefined ? {} : { cache_write_tokens: usage.cacheWriteTokens }),
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  }
}
