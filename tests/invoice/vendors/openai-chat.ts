import { readFile } from '../files/read-file.ts'
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
import { countOf, listOf, membersOf, textOf, type Members } from './read-members.ts'
import { countJson, countTokens } from './tokens.ts'
import { Refused, type VendorCall } from './vendor-server.ts'

/** `POST /v1/chat/completions` of OpenAI. */
export async function answerChat(call: VendorCall): Promise<void> {
  const body = parseBody(call.text, call.planned.plan.reader)
  if (body === null) throw new Refused('We could not parse the JSON body of your request.')
  const name = textOf(body['model'])
  const model = openAiModelOf(name)
  const counted = countMessages(call, body, model)
  const asked: Asked = {
    model: name,
    prompt: countPrompt(call, model, counted),
    outputMax: model.outputMax,
    outputLimit: countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']),
    choices: countOf(body['n']) ?? 1,
    isStream: body['stream'] === true,
    isThinking: model.isThinking && body['reasoning_effort'] !== 'none',
    extras: 'web_search_options' in body ? hostedTool(call, 'web_search') : [],
    factor: tierFactor(body['service_tier']),
  }
  await performWork(call, asked, CHAT_WIRE, 'streams stop')
}

/** The documented count: 3 tokens a message and 3 for the answer, the role, the name and the content. */
const TOKENS_PER_MESSAGE = 3
const TOKENS_OF_ANSWER = 3

function countMessages(call: VendorCall, body: Members, model: OpenAiModel): Counted {
  const counted = { tokens: TOKENS_OF_ANSWER, audioTokens: 0 }
  for (const { role, content, name, tool_calls: calls } of listOf(body['messages'])) {
    counted.tokens += TOKENS_PER_MESSAGE + countTokens(textOf(role)) + countTokens(textOf(name))
    counted.tokens += countJson(calls) + countTokens(textOf(content))
    for (const part of listOf(content)) countPart(call, counted, part, model)
  }
  counted.tokens += countJson(body['tools']) + countJson(body['response_format'])
  return counted
}

function countPart(call: VendorCall, counted: Counted, part: Members, model: OpenAiModel): void {
  switch (part['type']) {
    case 'text':
      counted.tokens += countTokens(textOf(part['text']))
      return
    case 'image_url': {
      const { url, detail } = membersOf(part['image_url'])
      return countPicture(counted, fetchFile(call, textOf(url)), model, detail)
    }
    case 'input_audio': {
      const { data } = membersOf(part['input_audio'])
      return countAudio(counted, readFile(Buffer.from(textOf(data), 'base64')))
    }
    case 'file': {
      const data = textOf(membersOf(part['file'])['file_data'])
      if (!data.startsWith('data:')) throw new Refused('Expected a base64-encoded data URL.')
      const facts = fetchFile(call, data)
      if (facts.is !== 'pdf') throw new Refused('Expected a PDF file.')
      return countDocument(counted, facts, model)
    }
    default:
      throw new Refused(`Invalid value: ${String(part['type'])}`)
  }
}

const HEAD = { id: 'chatcmpl-simulated', created: 1_750_000_000, system_fingerprint: 'fp_simulated' }

/** OpenAI's chat wire, which own servers speak too. */
export const CHAT_WIRE: AnswerWire = {
  start: ({ model, choices }) =>
    Array.from({ length: choices }, (_, index) =>
      chunk({ index, delta: { role: 'assistant', content: '' } }, model),
    ),
  piece: (content, index) => chunk({ index, delta: { content } }),
  end: ({ choices }, usage) => [
    ...Array.from({ length: choices }, (_, index) => chunk({ index, delta: {}, finish_reason: 'stop' })),
    `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', model: 'm', choices: [], usage: toUsage(usage) })}\n\n`,
    'data: [DONE]\n\n',
  ],
  whole: ({ model, choices }, usage, content) =>
    JSON.stringify({
      ...HEAD,
      object: 'chat.completion',
      model,
      choices: Array.from({ length: choices }, (_, index) => ({
        index,
        message: { role: 'assistant', content, refusal: null },
        finish_reason: 'stop',
      })),
      usage: toUsage(usage),
    }),
}

function chunk(choice: object, model = 'm'): string {
  const payload = {
    ...HEAD,
    object: 'chat.completion.chunk',
    model,
    choices: [{ finish_reason: null, ...choice }],
  }
  return `data: ${JSON.stringify(payload)}\n\n`
}

export function toUsage(usage: Reported): object {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      audio_tokens: usage.audioPromptTokens ?? 0,
      ...(usage.cacheWriteTokens === undefined ? {} : { cache_write_tokens: usage.cacheWriteTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0 },
  }
}
