import { basename } from 'node:path'
import type { Schemas } from '../../api/gateway-client.ts'
import { sendUpload } from '../../api/send-upload.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { readPrompts } from '../../compare/read-prompts.ts'
import { openUpload } from '../../files/open-upload.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { fromBatch, fromLog, fromRun } from './sourced-datasets.ts'

interface ListOptions {
  readonly limit: string
}

const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List datasets, newest first.',
  example: 'parkway datasets list',
  define: (command) => command.option('--limit <number>', 'how many', '20'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const query = { limit: Number(limit) }
    const { data } = await connect().call((routes) =>
      routes.GET('/v1/compare/datasets', { params: { query } }),
    )
    if (isJson) return printJsonLines(data)
    if (data.length === 0) return output.note('There are no datasets.')
    printTable(
      output,
      [
        { title: 'dataset', of: ({ id }) => id, isId: true },
        { title: 'prompts', of: (row) => String(row.prompts_total), isNumber: true, rank: 2 },
        { title: 'changed', of: (row) => row.updated_at, isTime: true, rank: 3 },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
      ],
      data,
    )
  },
})

interface CreateOptions {
  readonly name?: string
  readonly description?: string
}

const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Make a dataset of the prompts in a file: CSV, or one a line as text or JSON.',
  example: 'parkway datasets create --name Capitals capitals.csv',
  define: (command) =>
    command
      .argument('<file>', 'the prompts; - for stdin')
      .option('--name <text>', 'its name; by default that of the file')
      .option('--description <text>', 'what it is for'),
  async act({ output, isJson, connect, printJson }, { name, description }, path = '') {
    const body = await describeContent(path, {
      name: name ?? (path === '-' ? 'stdin' : basename(path)),
      ...(description === undefined ? {} : { description }),
    })
    const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
    const message = { method: 'POST', body, headers }
    const response = await sendUpload(connect(), '/v1/compare/datasets', message, basename(path))
    const dataset = (await response.json()) as Schemas['CompareDataset']
    if (isJson) return printJson(dataset)
    output.line(dataset.id)
    output.note(`${dataset.prompts_total} prompts`)
  },
})

/** The gateway reads CSV itself. Lines of text are no file that it knows. */
async function describeContent(
  path: string,
  members: { name: string; description?: string },
): Promise<string | FormData> {
  if (!path.toLowerCase().endsWith('.csv'))
    return JSON.stringify({ ...members, prompts: await readPrompts(path) })
  const form = new FormData()
  for (const [name, value] of Object.entries(members)) form.set(name, value)
  form.set('file', await openUpload(path), basename(path))
  return form
}

interface ShowOptions {
  readonly version?: string
}

const show = clientCommand<ShowOptions>({
  name: 'show',
  summary: 'Show a dataset with its prompts.',
  example: 'parkway datasets show 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command.argument('<dataset>', 'its id').option('--version <hash>', 'an older version of it'),
  async act({ output, isJson, connect, printJson }, { version }, id = '') {
    const query = version === undefined ? {} : { version }
    const dataset = await connect().call((routes) =>
      routes.GET('/v1/compare/datasets/{id}', { params: { path: { id }, query } }),
    )
    if (isJson) return printJson(dataset)
    printPairs(output, [
      ['dataset', dataset.id],
      ['name', dataset.name],
      ['description', dataset.description ?? '-'],
      ['version', `${dataset.version} (${dataset.versions.length} in all)`],
      ['changed', output.time(dataset.updated_at)],
    ])
    output.line('')
    printTable(
      output,
      [
        { title: 'prompt', of: ({ position }) => String(position), isNumber: true },
        {
          title: 'expected',
          of: ({ expected }) => (expected === null ? '-' : JSON.stringify(expected)),
          rank: 2,
          isText: true,
        },
        { title: 'text', of: ({ messages }) => textOf(messages.at(-1)), rank: 1, isText: true },
      ],
      dataset.prompts.map((prompt, position) => ({ ...prompt, position })),
    )
  },
})

function textOf(message: unknown): string {
  const content =
    typeof message === 'object' && message !== null && 'content' in message ? message.content : message
  return typeof content === 'string' ? content : (JSON.stringify(content) ?? '')
}

const remove = clientCommand({
  name: 'rm',
  summary: 'Delete a dataset. Its runs stay.',
  example: 'parkway datasets rm 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<dataset>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const deleted = await connect().call((routes) =>
      routes.DELETE('/v1/compare/datasets/{id}', { params: { path: { id } } }),
    )
    if (isJson) return printJson(deleted)
    output.line(`Deleted ${deleted.id}.`)
  },
})

export const datasets = commandGroup({
  name: 'datasets',
  summary: 'List, make and delete datasets: prompts for comparisons.',
  example: 'parkway datasets',
  byDefault: list,
  others: [create, fromRun, fromLog, fromBatch, show, remove],
})
