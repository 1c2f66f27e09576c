import { createHash } from 'node:crypto'
import { AppError, notFound } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createId, isUuid } from '../../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../../kernel/page.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { takeRoom, type QuotaOf } from '../../../storage/stored-bytes/stored-bytes.ts'
import { idsOf, isWithin, type Place } from '../../../storage/place.ts'
import { explainUnkeepable } from '../runs/create-run.ts'
import type { Dataset, DatasetChanges, DatasetContent, DatasetDraft, DatasetVersion } from './dataset.ts'
import type { PromptCase } from '../prompt-case.ts'

/** Sets of prompts, versioned by their content. */
export interface Datasets {
  create(place: Place, draft: DatasetDraft): Promise<Dataset>
  list(place: Place, page: PageRequest): Promise<Page<Dataset>>
  /** Returns the current version, or an earlier one. */
  read(place: Place, datasetId: string, version?: string): Promise<DatasetContent>
  /** Newest first. */
  listVersions(place: Place, datasetId: string): Promise<DatasetVersion[]>
  update(place: Place, datasetId: string, changes: DatasetChanges): Promise<Dataset>
  /** Runs that used it are kept. */
  remove(place: Place, datasetId: string): Promise<void>
}

const DATASETS_MAX = 1_000
const VERSIONS_MAX = 100

interface DatasetsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly quotaOf: QuotaOf
}

export function createDatasets({ database, clock, quotaOf }: DatasetsOptions): Datasets {
  return {
    create: async (place, draft) => {
      const bytesMax = await quotaOf(place.accountId, 'dataset')
      const order = { place, draft, nowMs: clock.nowMs(), bytesMax }
      return keep(() => database.transaction((transaction) => insert(transaction, order)))
    },
    list: (place, page) => list(database, place, page),
    read: async (place, datasetId, wanted) => {
      const dataset = await readDataset(database, place, datasetId)
      const version = wanted ?? dataset.version
      const prompts = await readPrompts(database, datasetId, version)
      if (prompts === null) throw notFound('version of the dataset')
      return { ...dataset, version, promptsTotal: prompts.length, prompts }
    },
    listVersions: async (place, datasetId) => {
      await readDataset(database, place, datasetId)
      return listVersions(database, datasetId)
    },
    update: async (place, datasetId, changes) => {
      const bytesMax = await quotaOf(place.accountId, 'dataset')
      const order = { place, datasetId, changes, nowMs: clock.nowMs(), bytesMax }
      return keep(() => database.transaction((transaction) => update(transaction, order)))
    },
    remove: async (place, datasetId) => {
      const rows = isUuid(datasetId)
        ? await database.query(removeWithin(place), [datasetId, idsOf(place)])
        : []
      if (rows.length === 0) throw notFound('dataset')
    },
  }
}

/** The same prompts have the same version, in any dataset. */
function versionOf(prompts: readonly PromptCase[]): string {
  return createHash('sha256').update(JSON.stringify(prompts)).digest('hex').slice(0, VERSION_LENGTH)
}

const VERSION_LENGTH = 16

interface InsertOrder {
  readonly place: Place
  readonly draft: DatasetDraft
  readonly nowMs: number
  readonly bytesMax: number | null
}

async function insert(
  transaction: Queryable,
  { place, draft, nowMs, bytesMax }: InsertOrder,
): Promise<Dataset> {
  const { accountId, projectId } = place
  const { name, description, prompts } = draft
  const kept = await transaction.query(
    'SELECT FROM compare_datasets WHERE account_id = $1 AND deleted_at IS NULL LIMIT $2',
    [accountId, DATASETS_MAX],
  )
  if (kept.length >= DATASETS_MAX)
    throw new AppError('conflict', `This account may have ${DATASETS_MAX} datasets. Delete one first.`)
  const version = versionOf(prompts)
  const id = createId(nowMs)
  const [row] = await transaction.query<DatasetRow>(
    `INSERT INTO compare_datasets (id, account_id, project_id, name, description, version, prompts_total, created_at,
       updated_at)
     VALUES ($1, $2, $8, $3, $4, $5, $6, $7, $7) RETURNING ${COLUMNS}`,
    [id, accountId, name, description, version, prompts.length, new Date(nowMs), projectId],
  )
  if (row === undefined) throw new Error('a written dataset was not returned')
  await insertVersion(transaction, { accountId, datasetId: id, version, prompts, nowMs, bytesMax })
  return datasetFromRow(row)
}

interface NewVersion {
  readonly accountId: string
  readonly datasetId: string
  readonly version: string
  readonly prompts: readonly PromptCase[]
  readonly nowMs: number
  readonly bytesMax: number | null
}

async function insertVersion(
  transaction: Queryable,
  { accountId, datasetId, version, prompts, nowMs, bytesMax }: NewVersion,
): Promise<void> {
  const known = await transaction.query(
    'SELECT FROM compare_dataset_versions WHERE dataset_id = $1 AND version = $2',
    [datasetId, version],
  )
  if (known.length > 0) return
  const text = JSON.stringify(prompts)
  const bytes = Buffer.byteLength(text)
  await takeRoom(transaction, { bytesMax, kind: 'dataset', accountId, bytes, param: 'prompts' })
  await transaction.query(
    `INSERT INTO compare_dataset_versions (dataset_id, version, prompts, created_at) VALUES ($1, $2, $3, $4)`,
    [datasetId, version, text, new Date(nowMs)],
  )
}

interface UpdateOrder {
  readonly place: Place
  readonly datasetId: string
  readonly changes: DatasetChanges
  readonly nowMs: number
  readonly bytesMax: number | null
}

async function update(
  transaction: Queryable,
  { place, datasetId, changes, nowMs, bytesMax }: UpdateOrder,
): Promise<Dataset> {
  const current = await readDataset(transaction, place, datasetId, { forUpdate: true })
  const { prompts } = changes
  const version = prompts === undefined ? current.version : versionOf(prompts)
  if (prompts !== undefined && version !== current.version) {
    const versions = await transaction.query('SELECT FROM compare_dataset_versions WHERE dataset_id = $1', [
      datasetId,
    ])
    if (versions.length >= VERSIONS_MAX)
      throw new AppError('conflict', `A dataset has ${VERSIONS_MAX} versions at most. Make another dataset.`)
    const { accountId } = place
    await insertVersion(transaction, { accountId, datasetId, version, prompts, nowMs, bytesMax })
  }
  const [row] = await transaction.query<DatasetRow>(
    `UPDATE compare_datasets SET name = $2, description = $3, version = $4, prompts_total = $5, updated_at = $6
     WHERE id = $1 RETURNING ${COLUMNS}`,
    [
      datasetId,
      changes.name ?? current.name,
      changes.description === undefined ? current.description : changes.description,
      version,
      prompts?.length ?? current.promptsTotal,
      new Date(nowMs),
    ],
  )
  if (row === undefined) throw notFound('dataset')
  return datasetFromRow(row)
}

async function list(
  queryable: Queryable,
  place: Place,
  { limit, afterId }: PageRequest,
): Promise<Page<Dataset>> {
  const [rows, [count]] = await Promise.all([
    queryable.query<DatasetRow>(
      `SELECT ${COLUMNS} FROM compare_datasets WHERE ${isWithin(place, '$1')} AND deleted_at IS NULL AND id < $2
       ORDER BY id DESC LIMIT $3`,
      [idsOf(place), afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>(
      `SELECT count(*) AS total FROM compare_datasets WHERE ${isWithin(place, '$1')} AND deleted_at IS NULL`,
      [idsOf(place)],
    ),
  ])
  return {
    items: rows.slice(0, limit).map(datasetFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

/** A dataset of another account or project gives the same error as one that does not exist. */
async function readDataset(
  queryable: Queryable,
  place: Place,
  datasetId: string,
  { forUpdate = false } = {},
): Promise<Dataset> {
  if (!isUuid(datasetId)) throw notFound('dataset')
  const [row] = await queryable.query<DatasetRow>(
    `SELECT ${COLUMNS} FROM compare_datasets WHERE id = $1 AND ${isWithin(place, '$2')} AND deleted_at IS NULL
     ${forUpdate ? 'FOR UPDATE' : ''}`,
    [datasetId, idsOf(place)],
  )
  if (row === undefined) throw notFound('dataset')
  return datasetFromRow(row)
}

async function readPrompts(
  queryable: Queryable,
  datasetId: string,
  version: string,
): Promise<PromptCase[] | null> {
  const [row] = await queryable.query<{ prompts: PromptCase[] }>(
    'SELECT prompts FROM compare_dataset_versions WHERE dataset_id = $1 AND version = $2',
    [datasetId, version],
  )
  return row?.prompts ?? null
}

async function listVersions(queryable: Queryable, datasetId: string): Promise<DatasetVersion[]> {
  const rows = await queryable.query<{ version: string; prompts_total: number; created_at: Date }>(
    `SELECT version, json_array_length(prompts) AS prompts_total, created_at FROM compare_dataset_versions
     WHERE dataset_id = $1 ORDER BY created_at DESC`,
    [datasetId],
  )
  return rows.map(({ version, prompts_total: promptsTotal, created_at: createdAt }) => ({
    version,
    promptsTotal,
    createdAt,
  }))
}

// The versions are deleted by cascade.
const removeWithin = (place: Place): string => `
  UPDATE compare_datasets SET deleted_at = now() WHERE id = $1 AND ${isWithin(place, '$2')} AND deleted_at IS NULL RETURNING id`

interface DatasetRow {
  readonly id: string
  readonly project_id: string | null
  readonly name: string
  readonly description: string | null
  readonly version: string
  readonly prompts_total: number
  readonly created_at: Date
  readonly updated_at: Date
}

const COLUMNS = 'id, project_id, name, description, version, prompts_total, created_at, updated_at'

function datasetFromRow(row: DatasetRow): Dataset {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    description: row.description,
    version: row.version,
    promptsTotal: row.prompts_total,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

async function keep<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw explainUnkeepable(error, 'prompts')
  }
}
