import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readOrganizationPages } from '../api/read-organization-pages.ts'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { clientCommand } from '../client-command.ts'
import { commandGroup } from '../command-group.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { askBeforeReplacing } from '../files/ask-before-replacing.ts'
import { downloadFile } from '../files/download-file.ts'
import { toFileName } from '../files/name-file.ts'
import { requireConsent } from '../input/confirm.ts'
import { parseDuration } from '../input/parse-duration.ts'
import { parseWhole } from '../input/parse-number.ts'
import { parseWord } from '../input/parse-word.ts'
import { formatBytes } from '../output/format-bytes.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { printTable, type Column } from '../output/tables/print-table.ts'
import { uploadFile } from '../stored-files/upload-file.ts'

type StoredFile = Schemas['File']

const UPLOAD_PURPOSES = ['batch', 'user_data', 'vision', 'assistants', 'fine-tune', 'evals'] as const
const PURPOSES = [...UPLOAD_PURPOSES, 'batch_output'] as const

const COLUMNS: readonly Column<StoredFile>[] = [
  { title: 'file', of: ({ id }) => id, isId: true },
  { title: 'purpose', of: ({ purpose }) => purpose, rank: 2 },
  { title: 'size', of: ({ bytes }) => formatBytes(bytes), isNumber: true, rank: 3 },
  { title: 'made', of: (file) => timeOf(file.created_at), isTime: true, rank: 4 },
  {
    title: 'expires',
    of: (file) =>
      file.expires_at === null ? 'never' : timeOf(file.expires_at).slice(0, 16).replace('T', ' '),
    rank: 5,
  },
  { title: 'name', of: ({ filename }) => filename, rank: 1, isText: true },
]

interface ListOptions {
  readonly limit: string
  readonly purpose?: string
}

const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List files, newest first.',
  example: 'parkway files list --purpose batch',
  define: (command) =>
    command
      .option('--limit <number>', 'how many', '20')
      .option('--purpose <name>', `only files for this: ${PURPOSES.join(', ')}`),
  async act({ output, isJson, connect, printJsonLines }, { limit, purpose: given }) {
    const purpose = given === undefined ? undefined : parseWord('--purpose', given, PURPOSES)
    const gateway = connect()
    const files = await readOrganizationPages(parseWhole('--limit', limit), (page) => {
      const query = { ...page, ...(purpose !== undefined && { purpose }) }
      return gateway.call((routes) => routes.GET('/v1/files', { params: { query } }))
    })
    if (isJson) return printJsonLines(files)
    if (files.length === 0) return output.note('There are no such files.')
    printTable(output, COLUMNS, files)
  },
})

interface UploadOptions {
  readonly purpose: string
  readonly name?: string
  readonly expires?: string
}

const upload = clientCommand<UploadOptions>({
  name: 'upload',
  summary: 'Upload a file and print its id. A large one is sent in parts, and goes on after a cut.',
  example: 'parkway files upload --purpose batch --expires 30d requests.jsonl',
  define: (command) =>
    command
      .argument('<path>', 'the file')
      .option('--purpose <name>', `what it is for: ${UPLOAD_PURPOSES.join(', ')}`, 'user_data')
      .option('--name <text>', 'its name; by default that of the file')
      .option('--expires <time>', 'delete it after this time, from 1h to 30d; never unless told'),
  async act({ output, isJson, connect, printJson }, { purpose, name, expires }, path = '') {
    const file = await uploadFile(connect(), {
      path,
      name: name ?? null,
      purpose: parseWord('--purpose', purpose, UPLOAD_PURPOSES),
      expiresSeconds: expires === undefined ? null : parseDuration('--expires', expires),
    })
    if (isJson) return printJson(file)
    output.line(file.id)
    output.note(`${file.filename}, ${formatBytes(file.bytes)}`)
  },
})

const get = clientCommand({
  name: 'get',
  summary: 'Show what a file is, and which batches read or wrote it.',
  example: 'parkway files get file-01a1e9000fc97effb14cdd4471e0969d',
  define: (command) => command.argument('<id>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const gateway = connect()
    const file = await readFile(gateway, id)
    if (isJson) return printJson(file)
    const { data: batches } = await gateway.call((routes) =>
      routes.GET('/v1/batches', { params: { query: { file_id: file.id } } }),
    )
    printPairs(output, [
      ['file', file.id],
      ['name', file.filename],
      ['purpose', file.purpose],
      ['size', formatBytes(file.bytes)],
      ['made', output.time(timeOf(file.created_at))],
      ['expires', file.expires_at === null ? 'never' : output.time(timeOf(file.expires_at))],
      ...batches.map(({ id: batchId, status }): [string, string] => ['batch', `${batchId} (${status})`]),
    ])
  },
})

interface DownloadOptions {
  readonly output?: string
  readonly force?: boolean
}

const download = clientCommand<DownloadOptions>({
  name: 'download',
  summary: 'Save a file. A cut connection is continued where it ended.',
  example: 'parkway files download -o saved.txt file-01a1e9000fc97effb14cdd4471e0969d',
  define: (command) =>
    command
      .argument('<id>', 'its id')
      .option('-o, --output <path>', 'the file or directory to save to; by default its own name')
      .option('--force', 'replace a file that exists'),
  async act({ output, isJson, connect, printJson }, { output: given, force }, id = '') {
    const gateway = connect()
    const file = await readFile(gateway, id)
    const path = pathOf(given, file)
    await askBeforeReplacing(path, { isForced: force === true })
    const { baseUrl, apiKey, projectId = null } = gateway.connection
    await downloadFile(new URL(`/v1/files/${file.id}/content`, baseUrl).href, path, {
      authorization: `Bearer ${apiKey}`,
      ...(projectId !== null && { 'openai-project': projectId }),
    })
    if (isJson) return printJson({ ...file, path })
    output.line(path)
  },
})

interface DeleteOptions {
  readonly yes?: boolean
}

const remove = clientCommand<DeleteOptions>({
  name: 'delete',
  summary: 'Delete a file. One that a running batch reads is refused.',
  example: 'parkway files delete --yes file-01a1e9000fc97effb14cdd4471e0969d',
  define: (command) => command.argument('<id>', 'its id').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    const gateway = connect()
    if (yes !== true) {
      const { filename } = await readFile(gateway, id)
      await requireConsent(`Delete ${filename}?`, false)
    }
    const deleted = await gateway.call((routes) =>
      routes.DELETE('/v1/files/{id}', { params: { path: { id } } }),
    )
    if (isJson) return printJson(deleted)
    output.line(`Deleted ${deleted.id}.`)
  },
})

function readFile(gateway: GatewayClient, id: string): Promise<StoredFile> {
  return gateway.call((routes) => routes.GET('/v1/files/{id}', { params: { path: { id } } }))
}

/** The name comes from the gateway, and must not lead to another directory. */
function pathOf(given: string | undefined, { filename }: StoredFile): string {
  const own = toFileName(filename)
  if (given === undefined) return own
  if (given === '-')
    throw new CommandFailure(EXIT.usage, 'This command does not write to stdout.', 'Name a file with -o.')
  return existsSync(given) && statSync(given).isDirectory() ? join(given, own) : given
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

export const files = commandGroup({
  name: 'files',
  summary: 'List, upload, save and delete files.',
  example: 'parkway files',
  byDefault: list,
  others: [upload, get, download, remove],
})
