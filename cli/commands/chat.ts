import { clientCommand, type CommandContext } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { readImage, readTextFile } from '../input/read-attachment.ts'
import { readStdin } from '../input/read-stdin.ts'
import { formatUsd } from '../output/format-usd.ts'
import { streamChat, type ChatRequest } from '../chat/stream-chat.ts'
import { parseSchema } from '../chat/parse-schema.ts'

interface ChatOptions {
  readonly model?: string
  readonly system?: string
  readonly image?: string[]
  readonly file?: string[]
  readonly jsonSchema?: string
  readonly think?: string
  readonly maxTokens?: string
}

const STDIN_BYTES_MAX = 4 * 1024 * 1024
const DEFAULT_MODEL = 'gpt-4o-mini'
const EFFORTS = ['low', 'medium', 'high']

const collect = (value: string, before: string[] = []): string[] => [...before, value]

export const chat = clientCommand<ChatOptions>({
  name: 'chat',
  summary: 'Ask a model and stream its answer. Text on stdin is put before the prompt.',
  example: 'git diff | parkway chat --model gpt-4o-mini "Write a commit message."',
  define: (command) =>
    command
      .argument('[prompt...]', 'the question')
      .option('-m, --model <id>', `the model (PARKWAY_MODEL, else ${DEFAULT_MODEL})`)
      .option('-s, --system <text>', 'the system prompt')
      .option('-i, --image <file or address>', 'an image, more than once for several', collect)
      .option('-f, --file <path>', 'a text file, more than once for several', collect)
      .option('--json-schema <file or JSON>', 'the JSON Schema that the answer must follow')
      .option('--think <effort>', `how long to reason: ${EFFORTS.join(', ')}`)
      .option('--max-tokens <number>', 'the longest answer'),
  async act(context, options, ...words) {
    const request = { ...describeRequest(options), messages: await buildMessages(options, words) }
    if (context.isJson) return context.printJson(await askAtOnce(context, request))
    await streamChat(context, request, ({ usage, model }) => {
      if (usage === null || !context.output.isTerminal) return
      const { prompt_tokens: input, completion_tokens: output, cost_usd: cost } = usage
      const price = cost === undefined ? '' : `, ${formatUsd(cost)}`
      context.output.note(context.output.style('dim', `${model}: ${input} tokens in, ${output} out${price}`))
    })
  },
})

function describeRequest({
  model,
  jsonSchema,
  think,
  maxTokens,
}: ChatOptions): Omit<ChatRequest, 'messages'> {
  if (think !== undefined && !EFFORTS.includes(think))
    throw new CommandFailure(EXIT.usage, `--think takes ${EFFORTS.join(', ')}.`)
  const tokens = maxTokens === undefined ? undefined : Number(maxTokens)
  if (tokens !== undefined && !(Number.isInteger(tokens) && tokens > 0))
    throw new CommandFailure(EXIT.usage, '--max-tokens takes a whole number.')
  return {
    model: model ?? (process.env.PARKWAY_MODEL || DEFAULT_MODEL),
    ...(tokens === undefined ? {} : { max_tokens: tokens }),
    ...(think === undefined ? {} : { reasoning_effort: think }),
    ...(jsonSchema === undefined ? {} : { response_format: parseSchema(jsonSchema) }),
  }
}

async function buildMessages(
  options: ChatOptions,
  words: readonly string[],
): Promise<ChatRequest['messages']> {
  const piped = process.stdin.isTTY ? '' : (await readStdin(STDIN_BYTES_MAX)).toString('utf8').trim()
  const files = (options.file ?? []).map(readTextFile)
  const text = [...files, piped, words.join(' ')].filter((part) => part !== '').join('\n\n')
  if (text === '') throw new CommandFailure(EXIT.usage, 'There is no prompt.', 'See "parkway chat --help".')
  const images = (options.image ?? []).map((source) => ({
    type: 'image_url' as const,
    image_url: { url: readImage(source) },
  }))
  const content = images.length === 0 ? text : [{ type: 'text' as const, text }, ...images]
  const system = options.system === undefined ? [] : [{ role: 'system' as const, content: options.system }]
  return [...system, { role: 'user', content }]
}

function askAtOnce({ connect }: CommandContext, request: ChatRequest): Promise<unknown> {
  return connect()
    .send('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    .then((response) => response.json())
}
