import { readFile } from 'node:fs/promises'
import { Type, type Static, type TSchema } from 'typebox'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import {
  DATASET_BYTES_MAX,
  PromptInputs,
  readDatasetInThread,
  toPromptCases,
  type Dataset,
  type DatasetContent,
  type Datasets,
  type PromptCase,
} from '../../../modules/compare/compare.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { CreatedAt, Id, objectName, UpdatedAt, UuidId } from '../../../wires/usual-members.ts'
import { ListQuery, listAnswer, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import type { UploadedFile } from '../../multipart/form.ts'
import { decodeText } from '../../bodies/decode-text.ts'
import { requireStorable } from '../../bodies/parse-body.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { compileCheck } from '../../bodies/validate.ts'
import { timestampOf } from './compare-cell-wire.ts'
import { findPrompts, FromBatch, FromLog, FromRun, type DatasetSources } from './compare-dataset-sources.ts'

const NAME_LENGTH_MAX = 200
const Description = nullable(Type.String({ maxLength: 10_000 }), 'What it is for, in words.')

const DatasetBody = Type.Object(
  {
    name: nullable(
      Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, description: 'That of the file unless told.' }),
    ),
    description: Description,
    prompts: nullable(PromptInputs, 'The prompts.'),
    test_cases: nullable(PromptInputs, 'Another name of `prompts`.'),
    from_run: FromRun,
    from_log: FromLog,
    from_batch: FromBatch,
  },
  {
    title: 'CompareDatasetRequest',
    examples: [{ name: 'Capitals', prompts: [{ prompt: 'The capital of France?', expected: 'Paris' }] }],
  },
)

const DatasetChangeBody = Type.Object({
  name: nullable(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }), 'The name that people gave it.'),
  description: Description,
  prompts: nullable(PromptInputs, 'The prompts.'),
  test_cases: nullable(PromptInputs, 'Another name of `prompts`.'),
})

const FORM = {
  files: {
    file: {
      countMax: 1,
      bytesMax: DATASET_BYTES_MAX,
      isRequired: false,
      description:
        'CSV whose first line names its columns (`prompt` or `messages`, and `id`, `system`, `expected`), or JSON of one ' +
        'prompt a line.',
    },
  },
} as const

const DatasetParams = Type.Object({ id: Type.String({ description: 'The id of a dataset.' }) })
const VersionQuery = Type.Object({
  version: Type.Optional(Type.String({ maxLength: 64, description: 'The newest unless told.' })),
})

const members = {
  id: UuidId,
  object: objectName('compare.dataset'),
  name: Type.String({ description: 'The name that people gave it.' }),
  description: orNull(Type.String(), 'What it is for, in words.'),
  version: Type.String({ description: 'Of its content: the same prompts are the same version.' }),
  prompts_total: Type.Integer({ description: 'How many prompts there are.' }),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
} satisfies Record<string, TSchema>
const DatasetAnswer = Type.Object(members, { title: 'CompareDataset' })
const DatasetContentAnswer = Type.Object(
  {
    ...members,
    prompts: Type.Array(
      Type.Object({
        id: Type.Union([Type.String(), Type.Null()], { description: 'The id of this object.' }),
        messages: Type.Array(Type.Unknown(), {
          description: 'The conversation so far, oldest message first.',
        }),
        expected: Type.Unknown({ description: 'The answer that is expected, for scoring. `null`: none.' }),
      }),
      { description: 'The prompts.' },
    ),
    versions: Type.Array(
      Type.Object({
        version: Type.String({ description: 'The version, named by its content.' }),
        prompts_total: Type.Integer({ description: 'How many prompts there are.' }),
        created_at: CreatedAt,
      }),
      { description: 'Newest first.' },
    ),
  },
  { title: 'CompareDatasetContent' },
)
const Deleted = Type.Object({
  id: Id,
  object: objectName('compare.dataset'),
  deleted: Type.Boolean({ description: 'Whether it is deleted now.' }),
})

interface DatasetRouteOptions {
  readonly datasets: Datasets
  readonly sources: DatasetSources
}

export const compareDatasetRoutes = ({ datasets, sources }: DatasetRouteOptions): Route[] => {
  const shared = { tag: 'Compare', access: inProject('compare.manage') } as const
  const path = '/v1/compare/datasets/:id'

  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/compare/datasets',
      summary: 'Make a dataset of prompts',
      otherErrors: [404, 409],
      body: DatasetBody,
      form: FORM,
      responses: { 201: { description: 'The dataset.', schema: DatasetAnswer } },
      handle: async ({ caller, body, files, reply, exchange }) => {
        const given = await readPrompts(body, files, caller.accountId)
        const found = await findPrompts(sources, caller, body, exchange.cancellation)
        if (given !== null && found !== null)
          throw invalidValue(
            'prompts',
            "Send one of 'prompts', 'file', 'from_run', 'from_log' and 'from_batch'.",
          )
        const prompts = found?.prompts ?? given
        if (prompts === null) throw missing('prompts')
        const name = body.name ?? nameOfFile(files) ?? found?.name.slice(0, NAME_LENGTH_MAX) ?? null
        if (name === null) throw missing('name')
        const dataset = await datasets.create(found?.place ?? caller, {
          name,
          description: body.description ?? null,
          prompts,
        })
        reply.code(201)
        return toDatasetAnswer(dataset)
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/datasets',
      summary: 'List datasets',
      query: ListQuery,
      responses: { 200: { description: 'Newest first.', schema: listSchema('datasets', DatasetAnswer) } },
      handle: async ({ caller, query }) =>
        listAnswer('datasets', await datasets.list(caller, parsePageRequest(query)), toDatasetAnswer),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path,
      summary: 'Read a dataset with its prompts',
      params: DatasetParams,
      query: VersionQuery,
      responses: { 200: { description: 'As it is now, or was.', schema: DatasetContentAnswer } },
      handle: async ({ caller, params, query }) => {
        const dataset = await datasets.read(caller, params.id, query.version)
        const versions = await datasets.listVersions(caller, params.id)
        return toContentAnswer(dataset, versions)
      },
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path,
      summary: 'Change a dataset',
      params: DatasetParams,
      body: DatasetChangeBody,
      form: FORM,
      responses: {
        200: { description: 'Other prompts make another version; runs keep theirs.', schema: DatasetAnswer },
      },
      handle: async ({ caller, params, body, files }) => {
        const prompts = await readPrompts(body, files, caller.accountId)
        const changes = {
          ...(typeof body.name === 'string' && { name: body.name }),
          ...(body.description !== undefined && { description: body.description }),
          ...(prompts !== null && { prompts }),
        }
        return toDatasetAnswer(await datasets.update(caller, params.id, changes))
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path,
      summary: 'Delete a dataset',
      params: DatasetParams,
      responses: { 200: { description: 'Runs that were made of it stay.', schema: Deleted } },
      handle: async ({ caller, params }) => {
        await datasets.remove(caller, params.id)
        return { id: params.id, object: 'compare.dataset', deleted: true }
      },
    }),
  ]
}

/** Reads the prompts from the body or from the uploaded file. Returns null if neither has any. */
async function readPrompts(
  { prompts, test_cases: testCases }: Pick<Static<typeof DatasetBody>, 'prompts' | 'test_cases'>,
  files: readonly UploadedFile[],
  accountId: string,
): Promise<PromptCase[] | null> {
  const [file] = files
  const given = [prompts, testCases, file].filter((source) => (source ?? null) !== null)
  if (given.length > 1) throw invalidValue('prompts', "Send one of 'prompts', 'test_cases' and 'file'.")
  if (prompts) return toPromptCases(prompts, 'prompts')
  if (testCases) return toPromptCases(testCases, 'test_cases')
  return file === undefined ? null : readFilePrompts(file, accountId)
}

const FilePrompts = Type.Object({ file: PromptInputs })
const checkFile: (value: unknown) => asserts value is Static<typeof FilePrompts> = compileCheck(FilePrompts)

async function readFilePrompts(file: UploadedFile, accountId: string): Promise<PromptCase[]> {
  const text = decodeText(await readFile(file.path))
  requireStorable('file', text)
  const read = { file: await readDatasetInThread({ text, format: formatOf(file, text) }, accountId) }
  checkFile(read)
  return toPromptCases(read.file, 'file')
}

/** Determines the format by the file's name and content type, or else by its first character. */
function formatOf({ filename, contentType }: UploadedFile, text: string): 'csv' | 'jsonl' {
  if (/\.csv$/i.test(filename) || /\bcsv\b/i.test(contentType)) return 'csv'
  if (/\.(jsonl|ndjson|json)$/i.test(filename) || /json/i.test(contentType)) return 'jsonl'
  return /^[\s\uFEFF]*[{"]/.test(text) ? 'jsonl' : 'csv'
}

function nameOfFile([file]: readonly UploadedFile[]): string | null {
  const name = file?.filename.replace(/\.[a-z]+$/i, '').slice(0, NAME_LENGTH_MAX)
  return name === undefined || name === '' ? null : name
}

function missing(param: string): AppError {
  return new AppError('missing_required_parameter', `Missing required parameter: '${param}'.`, { param })
}

function toDatasetAnswer(dataset: Dataset): Record<string, unknown> {
  return {
    id: dataset.id,
    object: 'compare.dataset',
    name: dataset.name,
    description: dataset.description,
    version: dataset.version,
    prompts_total: dataset.promptsTotal,
    created_at: timestampOf(dataset.createdAt),
    updated_at: timestampOf(dataset.updatedAt),
  }
}

function toContentAnswer(
  dataset: DatasetContent,
  versions: Awaited<ReturnType<Datasets['listVersions']>>,
): Record<string, unknown> {
  return {
    ...toDatasetAnswer(dataset),
    prompts: dataset.prompts.map(({ id, messages, expected }) => ({ id, messages, expected })),
    versions: versions.map(({ version, promptsTotal, createdAt }) => ({
      version,
      prompts_total: promptsTotal,
      created_at: timestampOf(createdAt),
    })),
  }
}
