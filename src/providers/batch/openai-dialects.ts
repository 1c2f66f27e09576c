import { isRecord } from '../../kernel/is-record.ts'
import { editJsonObject } from '../../kernel/json/edit-json-object.ts'

/** How an API of files and batches differs from OpenAI's. */
export interface OpenAiDialect {
  readonly batches: string
  readonly uploads: string
  /** Members of the form of an upload, beside the file. */
  uploadFields(filename: string): Readonly<Record<string, string>>
  /** Whether an upload has to be read by the vendor before a batch can be made of it. */
  readonly readsUploads: boolean
  create(order: BatchToCreate): object
  /** Where the batch is in the answer to its creation. */
  madeOf(answer: Record<string, unknown>): Record<string, unknown>
  /** Of the path of a request. */
  endpointOf(path: string): string
  /** The body of a line. */
  bodyOf(body: string): string
  /** Whether its batches have a place for a name. Otherwise they are found by the names of their files. */
  readonly isNamed: boolean
  readonly isNewestFirst: boolean
  /** The query of a page of the list. Null: there is no further one. */
  page(after: string | null, number: number): string | null
  /** The same of the list of files, newest first. */
  filePage(after: string | null, number: number): string | null
  readonly running: ReadonlySet<string>
  readonly ended: ReadonlySet<string>
  readonly outputs: readonly string[]
  readonly inputs: readonly string[]
  readonly paths: ReadonlySet<string>
}

interface BatchToCreate {
  readonly file: string
  readonly endpoint: string
  readonly model: string
  readonly name: string
}

/** In the metadata of a batch. */
export const NAME = 'parkway_part'
export const FILES_A_PAGE = 100

/** https://platform.openai.com/docs/api-reference/batch */
export const OPENAI_DIALECT: OpenAiDialect = {
  batches: '/batches',
  uploads: '/files',
  uploadFields: () => ({ purpose: 'batch' }),
  readsUploads: false,
  create: ({ file, endpoint, name }) => ({
    input_file_id: file,
    endpoint,
    completion_window: '24h',
    metadata: { [NAME]: name },
  }),
  madeOf: (answer) => answer,
  endpointOf: (path) => `/v1${path}`,
  bodyOf: (body) => body,
  isNamed: true,
  isNewestFirst: true,
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
export const GROQ_DIALECT: OpenAiDialect = {
  ...OPENAI_DIALECT,
  isNewestFirst: false,
  paths: new Set(['/chat/completions']),
}

/** https://docs.mistral.ai/api/endpoint/batch */
export const MISTRAL_DIALECT: OpenAiDialect = {
  ...OPENAI_DIALECT,
  batches: '/batch/jobs',
  create: ({ file, endpoint, model, name }) => ({
    input_files: [file],
    endpoint,
    model,
    metadata: { [NAME]: name },
    timeout_hours: 24,
  }),
  isNewestFirst: false,
  page: (_, number) => `?page_size=100&page=${number}`,
  filePage: (_, number) => `?purpose=batch&page_size=${FILES_A_PAGE}&page=${number}`,
  running: new Set(['QUEUED', 'RUNNING', 'CANCELLATION_REQUESTED']),
  ended: new Set(['SUCCESS', 'FAILED', 'TIMEOUT_EXCEEDED', 'CANCELLED']),
  outputs: ['output_file', 'error_file'],
  inputs: [],
  paths: new Set(['/chat/completions', '/embeddings']),
}

/** A deployment of Azure is either for requests or for batches. That for batches has the name of the other with this behind it. */
const AZURE_SUFFIX = '-batch'

/** https://learn.microsoft.com/azure/foundry/openai/how-to/batch */
export const AZURE_DIALECT: OpenAiDialect = {
  ...OPENAI_DIALECT,
  readsUploads: true,
  endpointOf: (path) => path,
  bodyOf: (body) => {
    const asked: unknown = JSON.parse(body)
    if (!isRecord(asked)) return body
    const model = `${String(asked['model'])}${AZURE_SUFFIX}`
    return (
      editJsonObject(body, new Map([['model', JSON.stringify(model)]])) ?? JSON.stringify({ ...asked, model })
    )
  },
  isNewestFirst: false,
  paths: new Set(['/chat/completions', '/responses']),
}

/** No place for a name, lists without pages, and the batch within the answer. https://docs.together.ai/reference/batch-create */
export const TOGETHER_DIALECT: OpenAiDialect = {
  ...OPENAI_DIALECT,
  uploads: '/files/upload',
  uploadFields: (filename) => ({ purpose: 'batch-api', file_name: filename, file_type: 'jsonl' }),
  create: ({ file, endpoint, model }) => ({
    input_file_id: file,
    endpoint,
    completion_window: '24h',
    model_id: model,
  }),
  madeOf: (answer) => (isRecord(answer['job']) ? answer['job'] : answer),
  isNamed: false,
  isNewestFirst: false,
  page: (_, number) => (number === 0 ? '' : null),
  filePage: (_, number) => (number === 0 ? '' : null),
  running: new Set(['VALIDATING', 'IN_PROGRESS', 'CANCELLING', 'CANCELING']),
  ended: new Set(['COMPLETED', 'FAILED', 'EXPIRED', 'CANCELLED', 'CANCELED']),
  paths: new Set(['/chat/completions']),
}
