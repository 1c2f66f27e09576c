import { readOrganizationPages } from '../api/read-organization-pages.ts'
import { sendUpload } from '../api/send-upload.ts'
import type { GatewayClient } from '../api/gateway-client.ts'
import { CHAT, IMAGES, readEndpoint, toBatchLines } from '../batches/batch-lines.ts'
import { followBatch, readBatch, requireRun, type Batch } from '../batches/follow-batch.ts'
import { clientCommand } from '../client-command.ts'
import { commandGroup } from '../command-group.ts'
import { CommandFailure } from '../command-failure.ts'
import { readPrompts } from '../compare/read-prompts.ts'
import { EXIT } from '../exit-codes.ts'
import { openUpload } from '../files/open-upload.ts'
import { saveResponseBody } from '../files/save-response-body.ts'
import { parseWhole } from '../input/parse-number.ts'
import { interruptible } from '../interruption.ts'
import { formatNumber } from '../output/format-number.ts'
import { formatUsd } from '../output/format-usd.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { printTable, type Column } from '../output/tables/print-table.ts'

const LINES_MAX = 50_000

const COLUMNS: readonly Column<Batch>[] = [
  { title: 'batch', of: ({ id }) => id, isId: true },
  { title: 'status', of: ({ status }) => status, rank: 1 },
  {
    title: 'lines',
    of: ({ request_counts: counts }) => formatNumber(counts.total),
    isNumber: true,
    rank: 2,
  },
  {
    title: 'failed',
    of: ({ request_counts: counts }) => formatNumber(counts.failed),
    isNumber: true,
    rank: 4,
  },
  { title: 'cost', of: ({ cost_usd: usd }) => formatUsd(usd), isNumber: true, rank: 3 },
  { title: 'asks', of: ({ model, endpoint }) => model ?? endpoint, rank: 5, isText: true },
  { title: 'made', of: (batch) => timeOf(batch.created_at), isTime: true, rank: 6 },
]

const list = clientCommand<{ readonly limit: string }>({
  name: 'list',
  summary: 'List batches, newest first.',
  example: 'parkway batch list',
  define: (command) => command.option('--limit <number>', 'how many', '20'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const gateway = connect()
    const batches = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/batches', { params: { query } })),
    )
    if (isJson) return printJsonLines(batches)
    if (batches.length === 0) return output.note('There are no batches.')
    printTable(output, COLUMNS, batches)
  },
})

interface CreateOptions {
  readonly endpoint: string
  readonly asFar?: boolean
}

const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Make a batch of a file with one request a line, and print its id.',
  example: 'parkway batch create requests.jsonl',
  define: (command) =>
    command
      .argument('<file>', 'JSON lines with custom_id, method, url and body')
      .option('--endpoint <path>', 'what each line asks: a path, or chat, images, edits, …', CHAT)
      .option('--as-far', 'run although the balance does not cover all of it'),
  async act({ output, isJson, connect, printJson }, options, path = '') {
    const gateway = connect()
    const inputId = await uploadLines(gateway, await openUpload(path), path)
    const batch = await createBatch(gateway, inputId, options)
    if (isJson) return printJson(batch)
    output.line(batch.id)
  },
})

const watch = clientCommand({
  name: 'watch',
  summary: 'Follow a batch until it has ended. Ctrl-C leaves it running.',
  example: 'parkway batch watch batch_01a1e9000fc97effb14cdd4471e0969d',
  define: (command) => command.argument('<batch>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const batch = await interruptible((signal) => followBatch(connect(), id, signal))
    if (isJson) printJson(batch)
    else printPairs(output, describe(batch))
    requireRun(batch)
  },
})

interface ResultsOptions {
  readonly output?: string
  readonly errors?: boolean
}

const results = clientCommand<ResultsOptions>({
  name: 'results',
  summary: 'Print or save the answers of a batch that has ended.',
  example: 'parkway batch results -o answers.jsonl batch_01a1e9000fc97effb14cdd4471e0969d',
  define: (command) =>
    command
      .argument('<batch>', 'its id')
      .option('-o, --output <path>', 'the file to save to')
      .option('--errors', 'the lines without an answer instead'),
  async act({ output, connect }, { output: path, errors }, id = '') {
    const gateway = connect()
    const batch = requireRun(await readBatch(gateway, id))
    const fileId = errors === true ? batch.error_file_id : batch.output_file_id
    if (fileId === null)
      throw new CommandFailure(
        EXIT.failed,
        errors === true ? 'The batch has no errors.' : `The batch is ${batch.status} and has no answers.`,
      )
    const response = await gateway.send(`/v1/files/${fileId}/content`, { method: 'GET' })
    if (path !== undefined) {
      await saveResponseBody(response, path)
      return output.note(`Saved ${path}.`)
    }
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) output.copy(decoder.decode(bytes, { stream: true }))
  },
})

const cancel = clientCommand({
  name: 'cancel',
  summary: 'Cancel a batch. What was answered is kept.',
  example: 'parkway batch cancel batch_01a1e9000fc97effb14cdd4471e0969d',
  define: (command) => command.argument('<batch>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const batch = await connect().call((routes) =>
      routes.POST('/v1/batches/{id}/cancel', { params: { path: { id } } }),
    )
    if (isJson) return printJson(batch)
    output.line(`The batch is ${batch.status}. No further line is asked.`)
  },
})

const retry = clientCommand({
  name: 'retry',
  summary: 'Ask the lines without an answer again in another batch, and print its id.',
  example: 'parkway batch retry batch_01a1e9000fc97effb14cdd4471e0969d',
  define: (command) => command.argument('<batch>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const batch = await connect().call((routes) =>
      routes.POST('/v1/batches/{id}/retry', { params: { path: { id } } }),
    )
    if (isJson) return printJson(batch)
    output.line(batch.id)
  },
})

interface RunOptions {
  readonly model: string
  readonly endpoint: string
  readonly size?: string
  readonly system?: string
  readonly column?: string
  readonly format?: string
  readonly maxTokens?: string
  readonly output?: string
  readonly asFar?: boolean
}

const run = clientCommand<RunOptions>({
  name: 'run',
  summary: 'Ask a model every prompt of a file as a batch, and save the answers. Ctrl-C leaves it running.',
  example: 'parkway batch run -m gpt-5.4-mini -o answers.jsonl prompts.txt',
  define: (command) =>
    command
      .argument('<file>', 'prompts: one a line, JSON lines, or CSV with a line of column names; - for stdin')
      .requiredOption('-m, --model <id>', 'the model')
      .option('--endpoint <name>', 'what is made of each prompt: chat or images', 'chat')
      .option('--system <text>', 'what comes before each prompt')
      .option('--column <name>', 'the column of the file that has the prompts')
      .option('--format <name>', 'csv, tsv, jsonl or text; by default the name of the file tells')
      .option('--max-tokens <number>', 'the longest answer')
      .option('--size <size>', 'of images, such as 1024x1024')
      .option('-o, --output <path>', 'the file to save the answers to')
      .option('--as-far', 'run although the balance does not cover all of it'),
  async act({ output, isJson, connect, printJson }, options, path = '') {
    const gateway = connect()
    const { model, system, column, format, maxTokens, size } = options
    const endpoint = readEndpoint(options.endpoint)
    if (endpoint !== CHAT && endpoint !== IMAGES)
      throw new CommandFailure(EXIT.usage, '--endpoint takes chat or images here.')
    const prompts = await readPrompts(path, { column, format, countMax: LINES_MAX })
    const text = toBatchLines(prompts, {
      model,
      endpoint,
      size,
      system,
      maxTokens: maxTokens === undefined ? undefined : parseWhole('--max-tokens', maxTokens),
    })
    const inputId = await uploadLines(gateway, new Blob([text]), 'prompts.jsonl')
    const batch = await interruptible(async (signal) => {
      const { id } = await createBatch(gateway, inputId, { ...options, endpoint })
      output.note(`${id} asks ${formatNumber(prompts.length)} prompts.`)
      return followBatch(gateway, id, signal)
    })
    if (batch.output_file_id !== null && options.output !== undefined) {
      const response = await gateway.send(`/v1/files/${batch.output_file_id}/content`, { method: 'GET' })
      await saveResponseBody(response, options.output)
    }
    if (isJson) printJson(batch)
    else printPairs(output, describe(batch))
    requireRun(batch)
  },
})

async function uploadLines(gateway: GatewayClient, lines: Blob, name: string): Promise<string> {
  const body = new FormData()
  body.set('purpose', 'batch')
  body.set('file', lines, name.split(/[/\\]/).at(-1) ?? 'lines.jsonl')
  const response = await sendUpload(gateway, '/v1/files', { method: 'POST', body }, name)
  const { id } = (await response.json()) as { id: string }
  return id
}

function createBatch(gateway: GatewayClient, inputId: string, options: CreateOptions): Promise<Batch> {
  return gateway.call((routes) =>
    routes.POST('/v1/batches', {
      body: {
        input_file_id: inputId,
        endpoint: readEndpoint(options.endpoint),
        completion_window: '24h',
        ...(options.asFar === true && { run_as_far_as_credit_goes: true }),
      },
    }),
  )
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

function describe(batch: Batch): [string, string][] {
  const { total, completed, failed } = batch.request_counts
  return [
    ['batch', batch.id],
    ['status', batch.status],
    ['asks', batch.model ?? batch.endpoint],
    ['answered', `${formatNumber(completed)} of ${formatNumber(total)} lines`],
    ['failed', formatNumber(failed)],
    ['cost', formatUsd(batch.cost_usd)],
    ['answers', batch.output_file_id ?? '-'],
    ['errors', batch.error_file_id ?? '-'],
  ]
}

export const batch = commandGroup({
  name: 'batch',
  summary: 'Ask many requests in the background.',
  example: 'parkway batch',
  byDefault: list,
  others: [create, watch, results, cancel, retry, run],
})
