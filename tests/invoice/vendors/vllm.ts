import type { HostedFiles } from '../files/hosted-files.ts'
import { readFile, type FileFacts } from '../files/read-file.ts'
import { CHAT_WIRE, toUsage } from './openai-chat.ts'
import { parseBody } from './parse-body.ts'
import { performWork, type AnswerWire, type Asked } from './perform-work.ts'
import { countPatches } from './picture-tokens.ts'
import type { Plans } from './planned-work.ts'
import { countOf, listOf, membersOf, readDataUrl, textOf, type Members } from './read-members.ts'
import { countJson, countTokens } from './tokens.ts'
import { Refused, startVendor, type Vendor, type VendorCall } from './vendor-server.ts'

const CONTEXT_TOKENS = 131_072
const OUTPUT_MAX = 32_768
const COMPLETION_TOKENS_DEFAULT = 16

/** The operator's own vLLM with open weights. It stops when its caller leaves, and nothing is paid for what nobody got. */
export function startVllm(plans: Plans, files: HostedFiles): Promise<Vendor> {
  return startVendor({
    name: 'vllm',
    plans,
    files,
    handle: (call) => {
      if (call.path === '/v1/chat/completions') return answerChat(call)
      if (call.path === '/v1/completions') return answerCompletion(call)
      throw new Refused('Not Found', 404)
    },
  })
}

const TOKENS_PER_MESSAGE = 4

async function answerChat(call: VendorCall): Promise<void> {
  const body = readBody(call)
  let tokens = countJson(body['tools'])
  for (const { content, tool_calls: calls } of listOf(body['messages'])) {
    tokens += TOKENS_PER_MESSAGE + countTokens(textOf(content)) + countJson(calls)
    for (const part of listOf(content)) tokens += countPart(call, part)
  }
  await performWork(call, askedOf(body, tokens, null), CHAT_WIRE, 'stops')
}

async function answerCompletion(call: VendorCall): Promise<void> {
  const body = readBody(call)
  const prompts = promptsOf(body['prompt'])
  const tokens = prompts.reduce<number>(
    (sum, prompt) => sum + (Array.isArray(prompt) ? prompt.length : countTokens(textOf(prompt))),
    0,
  )
  const asked = askedOf(body, tokens, COMPLETION_TOKENS_DEFAULT)
  await performWork(call, { ...asked, choices: asked.choices * prompts.length }, COMPLETION_WIRE, 'stops')
}

function readBody(call: VendorCall): Members {
  const body = parseBody(call.text, call.planned.plan.reader)
  if (body === null) throw new Refused('JSON decode error')
  return body
}

function promptsOf(prompt: unknown): unknown[] {
  if (!Array.isArray(prompt)) return [prompt]
  return prompt.every((one) => typeof one === 'number') ? [prompt] : prompt
}

function askedOf(body: Members, promptTokens: number, limitDefault: number | null): Asked {
  if (promptTokens > CONTEXT_TOKENS)
    throw new Refused("This model's maximum context length is 131072 tokens.")
  const model = textOf(body['model'])
  return {
    model,
    prompt: { promptTokens, cachedTokens: 0 },
    outputMax: Math.min(OUTPUT_MAX, CONTEXT_TOKENS - promptTokens),
    outputLimit: countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']) ?? limitDefault,
    choices: countOf(body['n']) ?? 1,
    isStream: body['stream'] === true,
    isThinking: model === 'own-thinker',
    extras: [],
    factor: 1,
  }
}

const PICTURE_TOKENS_MAX = 16_384
const VIDEO_FRAME_TOKENS = 256
const VIDEO_FRAMES_MAX = 64

function countPart(call: VendorCall, part: Members): number {
  switch (part['type']) {
    case 'text':
      return countTokens(textOf(part['text']))
    case 'image_url': {
      const facts = fetchFile(call, part['image_url'])
      if (facts.is !== 'picture') throw new Refused('cannot identify image file')
      return countPatches(facts, 28, PICTURE_TOKENS_MAX)
    }
    case 'video_url': {
      const facts = fetchFile(call, part['video_url'])
      if (facts.is !== 'video') throw new Refused('cannot open video')
      return Math.min(Math.ceil(facts.seconds * 2), VIDEO_FRAMES_MAX) * VIDEO_FRAME_TOKENS
    }
    default:
      throw new Refused(`Unknown part type: ${String(part['type'])}`)
  }
}

function fetchFile(call: VendorCall, place: unknown): FileFacts {
  const url = textOf(membersOf(place)['url'])
  const bytes = readDataUrl(url)?.bytes ?? call.vendor.files.find(url)
  if (bytes === null) throw new Refused('the file could not be loaded')
  return readFile(bytes)
}

const HEAD = { id: 'cmpl-simulated', object: 'text_completion', created: 1_750_000_000 }

const COMPLETION_WIRE: AnswerWire = {
  start: () => [],
  piece: (text, index) => event({ choices: [{ index, text, logprobs: null, finish_reason: null }] }),
  end: ({ choices }, usage) => [
    event({
      choices: Array.from({ length: choices }, (_, index) => ({
        index,
        text: '',
        logprobs: null,
        finish_reason: 'stop',
      })),
    }),
    event({ choices: [], usage: toUsage(usage) }),
    'data: [DONE]\n\n',
  ],
  whole: ({ model, choices }, usage, text) =>
    JSON.stringify({
      ...HEAD,
      model,
      choices: Array.from({ length: choices }, (_, index) => ({
        index,
        text,
        logprobs: null,
        finish_reason: 'stop',
      })),
      usage: toUsage(usage),
    }),
}

function event(members: object): string {
  return `data: ${JSON.stringify({ ...HEAD, model: 'own', ...members })}\n\n`
}
