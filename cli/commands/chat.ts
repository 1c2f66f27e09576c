import { readJson } from '../api/read-body.ts'
import { clientCommand, type CommandContext } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { collect } from '../input/collect.ts'
import { parseWhole } from '../input/parse-number.ts'
import { readImage, readTextFile } from '../input/read-attachment.ts'
import { readStdin } from '../input/read-stdin.ts'
import { createAnswerPrinter, describeUsage } from '../chat/answer-printer.ts'
import { attach, type Attachments } from '../chat/attachments.ts'
import { parseSchema } from '../chat/parse-schema.ts'
import { streamChat, type ChatEnd, type ChatMessage, type ChatRequest } from '../chat/stream-chat.ts'

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
const DEFAULT_MODEL = 'gpt-5.6-luna'
const EFFORTS = ['low', 'medium', 'high']

export const chat = clientCommand<ChatOptions>({
  name: 'chat',
  summary:
    'Ask a model and stream its answer. Text on stdin is put before the prompt. Without a prompt, a conversation begins.',
  example: 'git diff | parkway chat --model gpt-5.6-luna "Write a commit message."',
  define: (command) =>
    command
      .argument('[prompt...]', 'the question')
      .option('-m, --model <id>', `the model (PARKWAY_MODEL, else ${DEFAULT_MODEL})`)
      .option('-s, --system <text>', 'the system prompt')
      .option('-i, --image <file or address>', 'an image, more than once for several', collect)
      .option('-f, --file <path>', 'a text file, more than once for several', collect)
      .option('--json-schema <file or JSON>', 'the JSON Schema that the answer must follow')
      .option('--think <effort>', `how long to reason: ${EFFORTS.join(', ')}`)
      .option('--max-tokens <number>', 'the most tokens of an answer'),
  async act(context, options, ...words) {
    const settings = describeRequest(options)
    const attached = readAttachments(options)
    const piped = process.stdin.isTTY ? '' : (await readStdin(STDIN_BYTES_MAX)).toString('utf8').trim()
    const prompt = [piped, words.join(' ')].filter((part) => part.trim() !== '').join('\n\n')
    if (prompt === '' && isConversation(context)) {
      const { converse } = await import('../repl/converse.ts')
      return converse(context, { settings, attached, system: options.system ?? null })
    }
    const request = { ...settings, messages: buildMessages(options, { attached, prompt }) }
    if (context.isJson) return context.printJson(await askAtOnce(context, request))
    await ask(context, request)
  },
})

function isConversation({ isJson, output }: CommandContext): boolean {
  return !isJson && output.isTerminal && process.stdin.isTTY
}

async function ask({ output, connect }: CommandContext, request: ChatRequest): Promise<void> {
  const printer = createAnswerPrinter(output)
  let end: ChatEnd
  try {
    end = await streamChat(connect(), request, { sink: printer })
  } finally {
    printer.end()
  }
  const usage = describeUsage(end)
  if (usage !== null && output.isTerminal) output.note(output.style('dim', usage))
}

function describeRequest({
  model,
  jsonSchema,
  think,
  maxTokens,
}: ChatOptions): Omit<ChatRequest, 'messages'> {
  if (think !== undefined && !EFFORTS.includes(think))
    throw new CommandFailure(EXIT.usage, `--think takes ${EFFORTS.join(', ')}.`)
  const tokens =
    maxTokens === undefined ? undefined : parseWhole('--max-tokens', maxTokens, { max: 10_000_000 })
  return {
    model: model ?? (process.env.PARKWAY_MODEL || DEFAULT_MODEL),
    ...(tokens === undefined ? {} : { max_tokens: tokens }),
    ...(think === undefined ? {} : { reasoning_effort: think }),
    ...(jsonSchema === undefined ? {} : { response_format: parseSchema(jsonSchema) }),
  }
}

function readAttachments({ file = [], image = [] }: ChatOptions): Attachments {
  return { texts: file.map(readTextFile), images: image.map(readImage) }
}

function buildMessages(
  { system }: ChatOptions,
  { attached, prompt }: { attached: Attachments; prompt: string },
): ChatMessage[] {
  const content = attach(prompt, attached)
  if (content === '')
    throw new CommandFailure(EXIT.usage, 'There is no prompt.', 'See "parkway chat --help".')
  return [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content },
  ]
}

function askAtOnce({ connect }: CommandContext, request: ChatRequest): Promise<unknown> {
  return connect()
    .send('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    .then(readJson)
}
