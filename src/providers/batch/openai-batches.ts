import { isRecord } from '../../kernel/is-record.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import { UNSURE, type BatchApi, type BatchCall, type BatchResult, type BatchState } from './batch-api.ts'
import { formOf, requireId, requireList, type BatchClient } from './batch-client.ts'
import { readResults, toResult } from './read-result.ts'

/** How an API of files and batches differs from OpenAI's. */
interface OpenAiDialect {
  readonly batches: string
  create(order: {
    readonly file: string
    readonly endpoint: string
    readonly model: string
    readonly name: string
  }): object
  /** The query of a page of the list. Null: there is no further one. */
  page(after: string | null, number: number): string | null
  /** The query of a page of the list of files, newest first. */
  filePage(after: string | null, number: number): string
  readonly running: ReadonlySet<string>
  readonly ended: ReadonlySet<string>
  readonly outputs: readonly string[]
  readonly inputs: readonly string[]
  readonly paths: ReadonlySet<string>
}

/** In the metadata of a batch. */
const NAME = 'parkway_part'
/** Clocks differ by less. */
const CLOCK_MS = 3_600_000
const PAGES_MAX = 50
const FILES_A_PAGE = 100

/** https://platform.openai.com/docs/api-reference/batch */
export const OPENAI_DIALECT: OpenAiDialect = {
  batches: '/batches',
  create: ({ file, endpoint, name }) => ({
    input_file_id: file,
    endpoint,
    completion_window: '24h',
    metadata: { [NAME]: name },
  }),
  page: (after) => (after === null ? '?limit=100' : `?limit=100&after=${after}`),
  filePage: (after) =>
    `?purpose=batch&order=desc&limit=${FILES_A_PAGE}${after === null ? '' : `&after=${after}`}`,
  running: new Set(['validating', 'in_progress', 'finalizing', 'cancelling']),
  ended: new Set(['completed', 'failed', 'expired', 'cancelled']),
  outputs: ['output_file_id', 'error_file_id'],
  inputs: ['input_file_id'],
  paths: new Set(['/chat/completions', '/responses', '/embeddings', '/completions', '/moderations']),
}

/** The same for chat only. https://console.groq.com/docs/batch */
export const GROQ_DIALECT: OpenAiDialect = { ...OPENAI_DIALECT, paths: new Set(['/chat/completions']) }

/** https://docs.mistral.ai/api/endpoint/batch */
export const MISTRAL_DIALECT: OpenAiDialect = {
  batches: '/batch/jobs',
  create: ({ file, endpoint, model, name }) => ({
    input_files: [file],
    endpoint,
    model,
    metadata: { [NAME]: name },
    timeout_hours: 24,
  }),
  page: (_, number) => `?page_size=100&page=${number}`,
  filePage: (_, number) => `?purpose=batch&page_size=${FILES_A_PAGE}&page=${number}`,
  running: new Set(['QUEUED', 'RUNNING', 'CANCELLATION_REQUESTED']),
  ended: new Set(['SUCCESS', 'FAILED', 'TIMEOUT_EXCEEDED', 'CANCELLED']),
  outputs: ['output_file', 'error_file'],
  inputs: [],
  paths: new Set(['/chat/completions', '/embeddings']),
}

const LINES_MAX = 50_000
/** Of the 100 MB or more that each of these vendors takes. */
const BYTES_MAX = 90 * 1024 * 1024

export function createOpenAiBatches(
  client: BatchClient,
  dialect: OpenAiDialect,
  priceMillionths: bigint,
): BatchApi {
  const { provider } = client
  return {
    linesMax: LINES_MAX,
    bytesMax: BYTES_MAX,
    priceMillionths,
    keyMark: client.keyMark,
    isNamed: true,
    takes: (path) => dialect.paths.has(path),
    writeLine: (id, { path, body }) =>
      `{"custom_id":${JSON.stringify(id)},"method":"POST","url":${JSON.stringify(`/v1${path}`)},"body":${body}}`,
    submit: async ({ name, path, model, lines, onCreate }, call) => {
      const uploaded = await client.json(
        { method: 'POST', path: '/files', body: formOf('batch', { lines, filename: filenameOf(name) }) },
        call,
      )
      const file = requireId(provider, uploaded['id'])
      await onCreate()
      const body = JSON.stringify(dialect.create({ file, endpoint: `/v1${path}`, model, name }))
      const made = await client.json({ method: 'POST', path: dialect.batches, body }, call)
      return requireId(provider, made['id'])
    },
    find: async ({ name, sentAtMs, except }, call) => {
      let after: string | null = null
      for (let number = 0; number < PAGES_MAX; number += 1) {
        const query = dialect.page(after, number)
        const path: string = dialect.batches + (query ?? '')
        const { data } = await client.json({ method: 'GET', path }, call)
        const batches = requireList(provider, data)
        for (const batch of batches) {
          if (!isRecord(batch)) continue
          const { id, metadata } = batch
          if (!isRecord(metadata) || metadata[NAME] !== name) continue
          const found = requireId(provider, id)
          if (except?.has(found) !== true) return found
        }
        const last = batches.at(-1)
        if (!isRecord(last)) return null
        if (Number(last['created_at']) * 1_000 < sentAtMs - CLOCK_MS && dialect === OPENAI_DIALECT)
          return null
        after = requireId(provider, last['id'])
      }
      return UNSURE
    },
    look: (id, call) => look(client, dialect, id, call),
    results: async function* ({ files }, call) {
      for (const file of files) yield* readResults(client.lines(`/files/${file}/content`, call), readLine)
    },
    cancel: async (id, call) => {
      await client.json({ method: 'POST', path: `${dialect.batches}/${id}/cancel` }, call)
    },
    clear: ({ name, sentAtMs }, call) => clear(client, dialect, { name, sentAtMs, call }),
    forget: async ({ files, leftFiles = [] }, call) => {
      for (const file of [...files, ...leftFiles])
        await orLost(client.json({ method: 'DELETE', path: `/files/${file}` }, call))
    },
  }
}

interface Upload {
  readonly name: string
  readonly sentAtMs: number
  readonly call: BatchCall
}

/** Files of a part are found by their name, because a process may die before it has stored the id of one. */
async function clear(
  client: BatchClient,
  dialect: OpenAiDialect,
  { name, sentAtMs, call }: Upload,
): Promise<void> {
  const filename = filenameOf(name)
  let after: string | null = null
  for (let number = 0; number < PAGES_MAX; number += 1) {
    const query: string = dialect.filePage(after, number)
    const { data } = await client.json({ method: 'GET', path: `/files${query}` }, call)
    const files = requireList(client.provider, data).filter(isRecord)
    for (const file of files)
      if (file['filename'] === filename)
        await orLost(
          client.json({ method: 'DELETE', path: `/files/${requireId(client.provider, file['id'])}` }, call),
        )
    const last = files.at(-1)
    if (last === undefined || files.length < FILES_A_PAGE) return
    if (Number(last['created_at']) * 1_000 < sentAtMs - CLOCK_MS) return
    after = requireId(client.provider, last['id'])
  }
}

function filenameOf(name: string): string {
  return `parkway-${name}.jsonl`
}

async function look(
  client: BatchClient,
  dialect: OpenAiDialect,
  id: string,
  call: BatchCall,
): Promise<BatchState> {
  const batch = await orLost(client.json({ method: 'GET', path: `${dialect.batches}/${id}` }, call))
  if (batch === null) return { kind: 'lost' }
  const status = String(batch['status'])
  if (dialect.running.has(status)) return { kind: 'running' }
  const read = (names: readonly string[]) =>
    names.flatMap((name) => {
      const file = batch[name]
      return typeof file === 'string' && file !== '' ? [requireId(client.provider, file)] : []
    })
  const files = read(dialect.outputs)
  // Lines of a batch that only seems to have ended would be asked, and paid, a second time.
  if (files.length === 0 && !dialect.ended.has(status)) return { kind: 'running' }
  return { kind: 'ended', id, files, leftFiles: read(dialect.inputs) }
}

/** Null if the vendor does not know it. */
export async function orLost<Found>(asked: Promise<Found>): Promise<Found | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof UpstreamError && error.details.status === 404) return null
    throw error
  }
}

/** A line that expired or was cancelled has an error instead of a response. */
function readLine({ custom_id: id, response }: Record<string, unknown>): BatchResult | null {
  return isRecord(response) ? toResult(id, response['status_code'], response['body']) : null
}
