import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../../wires/openai-completions/completion-request.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { decodeTokens } from '../../kernel/tokens/decode-tokens.ts'
import { createToken } from '../../kernel/identifiers.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { mergeStreams } from '../streams/merge-streams.ts'
import { sumUsage } from '../answers/sum-usage.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import type {
  CompleteAnswer,
  InferenceAnswer,
  InferenceCall,
  InferenceOperation,
  StreamAnswer,
} from '../provider.ts'
import { writtenAnswer } from '../answers/written-answer.ts'

const OUTPUT_TOKENS_DEFAULT = 16

/**
 * Serves the legacy text completion with a chat model, which is instructed to continue the text or to fill the gap before
 * `suffix`. Each prompt of a list is a separate call.
 */
export function completionThroughChat(
  provider: string,
  chat: InferenceOperation,
): InferenceOperation<CompletionRequest> {
  return async (call) => {
    const prompts = readPrompts(provider, call.body)
    const choicesPerPrompt = call.body.n ?? 1
    // All calls end when the client cancels or one of them fails.
    const cancellation = new Cancellation()
    call.cancellation.onCancel((reason) => cancellation.cancel(reason))
    const cancel = () => cancellation.cancel(new Error('another prompt of the same request failed'))
    const answers = await Promise.all(
      prompts.map((prompt) => chat({ ...chatCall(call, prompt), cancellation })),
    ).catch((error: unknown) => {
      cancel()
      throw error
    })
    const translations = answers.map((answer, index) => ({
      answer,
      translate: createTranslation({
        provider,
        firstIndex: index * choicesPerPrompt,
        echo: call.body.echo ? (prompts[index] ?? '') : '',
      }),
    }))
    return call.body.stream ? mergeStreamAnswers(translations, cancel) : mergeCompleteAnswers(translations)
  }
}

type Translation = {
  readonly answer: InferenceAnswer
  readonly translate: (payload: Buffer) => TextCompletion
}

interface TextCompletion extends Record<string, unknown> {
  choices: Record<string, unknown>[]
}

function readPrompts(provider: string, { prompt }: CompletionRequest): string[] {
  if (typeof prompt === 'string') return [prompt]
  if (prompt.every((entry) => typeof entry === 'number')) return [decodePrompt(provider, prompt)]
  return prompt.map((entry) =>
    typeof entry === 'string' ? entry : Array.isArray(entry) ? decodePrompt(provider, entry) : '',
  )
}

function decodePrompt(provider: string, tokens: readonly number[]): string {
  const text = decodeTokens(tokens)
  if (text !== null) return text
  throw new UpstreamError(`${provider}: the prompt holds an unknown token`, {
    failure: 'status',
    provider,
    status: 400,
    upstreamMessage: "'prompt' holds an id that is not a token of the o200k encoding.",
    upstreamCode: 'invalid_value',
    upstreamParam: 'prompt',
  })
}

function chatCall(call: InferenceCall<CompletionRequest>, prompt: string): InferenceCall {
  const {
    prompt: _prompt,
    suffix,
    best_of: _bestOf,
    echo: _echo,
    logprobs,
    max_tokens,
    ...shared
  } = call.body
  const body: ChatRequest = {
    ...shared,
    max_tokens: max_tokens ?? OUTPUT_TOKENS_DEFAULT,
    ...(typeof logprobs === 'number' ? { logprobs: true } : {}),
    ...(logprobs ? { top_logprobs: logprobs } : {}),
    messages: suffix ? fillInMessages(prompt, suffix) : continueMessages(prompt),
  }
  return { ...call, body, text: JSON.stringify(body) }
}

function continueMessages(prompt: string): ChatRequest['messages'] {
  return [
    {
      role: 'system',
      content: "Continue the user's text from exactly where it ends. Answer with the continuation only.",
    },
    { role: 'user', content: prompt },
  ]
}

function fillInMessages(prefix: string, suffix: string): ChatRequest['messages'] {
  return [
    {
      role: 'system',
      content:
        'The user gives a text with a gap, as <prefix>…</prefix><suffix>…</suffix>. Answer with only the text that ' +
        'belongs in the gap.',
    },
    { role: 'user', content: `<prefix>${prefix}</prefix><suffix>${suffix}</suffix>` },
  ]
}

interface TranslationOptions {
  readonly provider: string
  readonly firstIndex: number
  readonly echo: string
}

/** Translates a chat completion, or a chunk of one, into a text completion. */
function createTranslation({ provider, firstIndex, echo }: TranslationOptions): Translation['translate'] {
  const echoed = new Set<number>()
  return (payload) => {
    const members = parseObject(provider, payload)
    // An error inside the answer is detected by the reader of the answer.
    if (!Array.isArray(members['choices'])) return { ...members, choices: [] }
    const choices = members['choices'].filter(isRecord).map((choice) => {
      const index = firstIndex + (typeof choice['index'] === 'number' ? choice['index'] : 0)
      const start = echoed.has(index) ? '' : echo
      echoed.add(index)
      return {
        text: start + textOf(choice),
        index,
        logprobs: legacyLogprobs(choice),
        finish_reason: choice['finish_reason'] ?? null,
      }
    })
    return { ...members, object: 'text_completion', choices }
  }
}

function parseObject(provider: string, payload: Buffer): Record<string, unknown> {
  try {
    const members: unknown = parseJson(payload.toString())
    if (isRecord(members)) return members
  } catch {
    // Reported below, like any other answer that is not an object.
  }
  throw new UpstreamError(`${provider}: it sent something that is not a JSON object`, {
    failure: 'invalid_answer',
    provider,
  })
}

function textOf(choice: Record<string, unknown>): string {
  const message = choice['delta'] ?? choice['message']
  const content = isRecord(message) ? message['content'] : ''
  return typeof content === 'string' ? content : ''
}

/** Returns OpenAI's older form: parallel lists of tokens, their log probabilities and the alternatives. */
function legacyLogprobs(choice: Record<string, unknown>): unknown {
  const logprobs = choice['logprobs']
  const content =
    isRecord(logprobs) && Array.isArray(logprobs['content']) ? logprobs['content'].filter(isRecord) : null
  if (!content) return null
  let offset = 0
  const offsets = content.map((entry) => {
    const start = offset
    offset += String(entry['token']).length
    return start
  })
  return {
    tokens: content.map((entry) => entry['token']),
    token_logprobs: content.map((entry) => entry['logprob']),
    top_logprobs: content.map((entry) => {
      const alternatives = Array.isArray(entry['top_logprobs']) ? entry['top_logprobs'].filter(isRecord) : []
      return Object.fromEntries(alternatives.map((top) => [String(top['token']), top['logprob']]))
    }),
    text_offset: offsets,
  }
}

function mergeCompleteAnswers(translations: readonly Translation[]): CompleteAnswer {
  const parts = translations.map(({ answer, translate }) => {
    if (answer.kind !== 'complete') throw new TypeError('a stream came back that was not asked for')
    return translate(answer.payload)
  })
  const [first = { choices: [] }] = parts
  const merged = {
    ...first,
    id: createToken('cmpl-'),
    choices: parts.flatMap((part) => part.choices),
    usage: parts.length === 1 ? first['usage'] : sumUsage(parts.map((part) => part['usage'])),
  }
  return writtenAnswer(merged)
}

function mergeStreamAnswers(translations: readonly Translation[], cancel: () => void): StreamAnswer {
  const streams = translations.map(({ answer, translate }) => {
    if (answer.kind !== 'stream') throw new TypeError('a whole answer came back where a stream was asked for')
    return { answer, translate }
  })
  const id = createToken('cmpl-')
  const translated = streams.map(async function* ({ answer, translate }, prompt) {
    for await (const batch of answer.batches)
      yield batch.map((payload) => ({ prompt, chunk: { ...translate(payload), id } }))
  })
  const merged = mergeStreams(translated, cancel)
  return {
    kind: 'stream',
    batches: streams.length === 1 ? serialise(merged) : withSummedUsage(merged, streams.length),
    isTerminated: () => streams.every(({ answer }) => answer.isTerminated()),
  }
}

interface PromptChunk {
  readonly prompt: number
  readonly chunk: TextCompletion
}

async function* serialise(
  batches: AsyncIterable<readonly PromptChunk[]>,
): AsyncGenerator<readonly Buffer[], void> {
  for await (const batch of batches) yield batch.map(({ chunk }) => Buffer.from(JSON.stringify(chunk)))
}

/** Each stream reports its own usage, at its end or repeatedly. The client receives the sum of the largest reports once. */
async function* withSummedUsage(
  batches: AsyncIterable<readonly PromptChunk[]>,
  streamCount: number,
): AsyncGenerator<readonly Buffer[], void> {
  const usages = new Map<number, Record<string, unknown>>()
  let last: TextCompletion | null = null
  for await (const batch of batches) {
    const chunks: Buffer[] = []
    for (const { prompt, chunk } of batch) {
      last = chunk
      if (isRecord(chunk['usage'])) usages.set(prompt, largerUsage(usages.get(prompt), chunk['usage']))
      if (chunk.choices.length > 0 || chunk['error'] !== undefined)
        chunks.push(Buffer.from(JSON.stringify({ ...chunk, usage: undefined })))
    }
    if (chunks.length > 0) yield chunks
  }
  const usage = usages.size === streamCount ? sumUsage([...usages.values()]) : undefined
  if (usage !== undefined) yield [Buffer.from(JSON.stringify({ ...last, choices: [], usage }))]
}

/** A later report may be lower than an earlier one. The larger one is what was used. */
function largerUsage(
  known: Record<string, unknown> | undefined,
  reported: Record<string, unknown>,
): Record<string, unknown> {
  return known !== undefined && weightOf(known) > weightOf(reported) ? known : reported
}

function weightOf(usage: Record<string, unknown>): number {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  return (typeof prompt === 'number' ? prompt : 0) + (typeof completion === 'number' ? completion : 0)
}
