import type { HostedFiles } from '../files/hosted-files.ts'
import { readFile, type FileFacts } from '../files/read-file.ts'
import type { Extra } from './invoice-line.ts'
import { parseBody } from './parse-body.ts'
import { performWork, type AnswerWire, type Asked, type PromptCounts, type Reported } from './perform-work.ts'
import type { Plans } from './planned-work.ts'
import { countOf, listOf, membersOf, textOf, type Members } from './read-members.ts'
import { countJson, countTokens } from './tokens.ts'
import { Refused, startVendor, type Vendor, type VendorCall } from './vendor-server.ts'

const MODELS: Readonly<Record<string, { contextTokens: number; outputMax: number }>> = {
  'gemini-3.6-flash': { contextTokens: 1_048_576, outputMax: 65_536 },
  'gemini-3.5-flash-lite': { contextTokens: 1_048_576, outputMax: 65_536 },
}

/** Gemini over `generateContent` and `streamGenerateContent`. */
export function startGoogle(plans: Plans, files: HostedFiles): Promise<Vendor> {
  return startVendor({ name: 'google', plans, files, handle: answerContent })
}

async function answerContent(call: VendorCall): Promise<void> {
  const [, name = '', method = ''] = /^\/v1beta\/models\/([^:]+):(\w+)/.exec(call.path) ?? []
  const model = MODELS[name]
  if (model === undefined) throw new Refused(`models/${name} is not found`, 404)
  const { reader } = call.planned.plan
  // Google's parser reads its names in camel case only.
  const body = parseBody(call.text, reader === 'any case' ? 'last' : reader)
  if (body === null) throw new Refused('Invalid JSON payload received.')
  const config = membersOf(body['generationConfig'])
  const asked: Asked = {
    model: name,
    prompt: countPrompt(call, body, model.contextTokens),
    outputMax: model.outputMax,
    outputLimit: countOf(config['maxOutputTokens']),
    choices: countOf(config['candidateCount']) ?? 1,
    isStream: method === 'streamGenerateContent',
    // Gemini thinks unless it is told not to.
    isThinking: membersOf(config['thinkingConfig'])['thinkingBudget'] !== 0,
    extras: listOf(body['tools']).flatMap((tool) => hostedTool(call, tool)),
    factor: 1,
  }
  await performWork(call, asked, GOOGLE_WIRE, 'continues')
}

/** Dollars a call. */
const HOSTED_TOOLS: Readonly<Record<string, number>> = {
  googleSearch: 0.014,
  googleMaps: 0.014,
  codeExecution: 0.001,
}

function hostedTool(call: VendorCall, tool: Members): Extra[] {
  return Object.keys(tool).flatMap((what) => {
    const usd = HOSTED_TOOLS[what]
    return usd === undefined ? [] : [{ what, usd: usd * call.planned.plan.hostedCalls }]
  })
}

interface Counted {
  tokens: number
  audioTokens: number
}

function countPrompt(call: VendorCall, body: Members, contextTokens: number): PromptCounts {
  const counted: Counted = { tokens: countJson(body['tools']), audioTokens: 0 }
  for (const { parts } of [membersOf(body['systemInstruction']), ...listOf(body['contents'])])
    for (const part of listOf(parts)) countPart(call, counted, part)
  if (counted.tokens > contextTokens) throw new Refused('The input token count exceeds the maximum.')
  return { promptTokens: counted.tokens, cachedTokens: 0, audioPromptTokens: counted.audioTokens }
}

function countPart(call: VendorCall, counted: Counted, part: Members): void {
  counted.tokens += countTokens(textOf(part['text'])) + countJson(part['functionCall'])
  if ('functionResponse' in part) {
    const { parts, ...result } = membersOf(part['functionResponse'])
    counted.tokens += countJson(result)
    for (const inner of listOf(parts)) countPart(call, counted, inner)
  }
  const { mimeType, data } = membersOf(part['inlineData'])
  if (data !== undefined) countFile(counted, textOf(mimeType), readFile(Buffer.from(textOf(data), 'base64')))
  const hosted = membersOf(part['fileData'])
  if (hosted['fileUri'] !== undefined) {
    const bytes = call.vendor.files.find(textOf(hosted['fileUri']))
    if (bytes === null) throw new Refused('Cannot fetch content from the provided URL.')
    countFile(counted, textOf(hosted['mimeType']), readFile(bytes))
  }
}

/** The highest resolution of pictures, and tokens a second or a page. */
const PICTURE_TOKENS = 1_120
const PAGE_TOKENS = 560
const VIDEO_TOKENS_PER_SECOND = 263
const AUDIO_TOKENS_PER_SECOND = 32
const PDF_PAGES_MAX = 1_000

/** Bills a file as what it is. What is declared as something else is refused, except for text, which anything can be. */
function countFile(counted: Counted, mimeType: string, facts: FileFacts): void {
  const declared = DECLARED.find(([pattern]) => pattern.test(mimeType))?.[1]
  if (declared === undefined) throw new Refused(`Unsupported MIME type: ${mimeType}`)
  if (declared !== facts.is) throw new Refused(`Unable to process input ${declared}.`)
  switch (facts.is) {
    case 'picture':
      counted.tokens += PICTURE_TOKENS
      return
    case 'pdf':
      if (facts.pages > PDF_PAGES_MAX) throw new Refused('The document contains too many pages.')
      counted.tokens += facts.pages * PAGE_TOKENS
      return
    case 'audio':
      counted.tokens += Math.ceil(facts.seconds * AUDIO_TOKENS_PER_SECOND)
      counted.audioTokens += Math.ceil(facts.seconds * AUDIO_TOKENS_PER_SECOND)
      return
    case 'video':
      counted.tokens += Math.ceil(facts.seconds * (VIDEO_TOKENS_PER_SECOND + AUDIO_TOKENS_PER_SECOND))
      counted.audioTokens += Math.ceil(facts.seconds * AUDIO_TOKENS_PER_SECOND)
      return
    case 'text':
      counted.tokens += countTokens(facts.text)
  }
}

const DECLARED: readonly (readonly [RegExp, FileFacts['is']])[] = [
  [/^image\//, 'picture'],
  [/^application\/pdf$/, 'pdf'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
  [/^(text\/|application\/json)/, 'text'],
]

const GOOGLE_WIRE: AnswerWire = {
  start: () => [],
  piece: (text) => event([{ text }], {}),
  end: (_, usage) => [event([{ text: '' }], { finishReason: 'STOP' }, usage)],
  whole: (_, usage, text) => JSON.stringify(contentOf([{ text }], { finishReason: 'STOP' }, usage)),
}

function event(parts: readonly object[], members: object, usage?: Reported): string {
  return `data: ${JSON.stringify(contentOf(parts, members, usage))}\r\n\r\n`
}

function contentOf(parts: readonly object[], members: object, usage?: Reported): object {
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...members }],
    ...(usage === undefined ? {} : { usageMetadata: toUsage(usage) }),
    modelVersion: 'gemini',
    responseId: 'simulated',
  }
}

function toUsage({
  promptTokens,
  completionTokens,
  reasoningTokens,
  audioPromptTokens: audio = 0,
}: Reported) {
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: completionTokens - reasoningTokens,
    thoughtsTokenCount: reasoningTokens,
    totalTokenCount: promptTokens + completionTokens,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: promptTokens - audio },
      ...(audio > 0 ? [{ modality: 'AUDIO', tokenCount: audio }] : []),
    ],
  }
}
