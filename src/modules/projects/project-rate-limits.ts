import { notFound } from '../../kernel/app-error.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Catalog, CatalogModel, ModelViewer } from '../catalog/catalog.ts'
import type { Caller, ProjectModelRates } from '../keys/keys.ts'
import type { ProjectOptions } from './project-options.ts'
import { readProject, requireActive } from './read-project.ts'

/** A model with the limits that the project has for it beside those of its account. */
export interface ModelLimits {
  readonly model: CatalogModel
  readonly own: ProjectModelRates
}

interface ProjectPlace {
  readonly caller: Caller
  readonly projectId: string
}

/** All functions throw `not_found` for a project of another account. */
export interface ProjectRateLimits {
  /** Every model of the catalog and every deployment of the project, in the order of the catalog. */
  list(place: ProjectPlace): Promise<ModelLimits[]>
  /** Absent members stay; null leaves it to the account. Returns after every process has applied them to every key of the project. */
  change(place: ProjectPlace, modelId: string, changes: Partial<ProjectModelRates>): Promise<ModelLimits>
}

export function createProjectRateLimits(
  { database, clock, keys }: ProjectOptions,
  catalog: Pick<Catalog, 'listFor'>,
): ProjectRateLimits {
  const listModels = ({ caller, projectId }: ProjectPlace): CatalogModel[] => {
    const { accountId, environment, isOperator = false } = caller
    const viewer: ModelViewer = { accountId, projectId, environment, isOperator }
    return catalog.listFor(viewer, { includeServices: true, includeUnlisted: true })
  }
  return {
    list: async (place) => {
      const { id } = await readProject(database, place.caller.accountId, place.projectId)
      const rows = await database.query<RatesRow>(
        `SELECT ${COLUMNS} FROM project_rate_limits WHERE project_id = $1`,
        [id],
      )
      const own = new Map(rows.map((row) => [row.model, ratesFromRow(row)]))
      return listModels(place).map((model) => ({ model, own: own.get(model.id) ?? NONE }))
    },
    change: async (place, modelId, changes) => {
      const { caller, projectId } = place
      const { accountId } = caller
      await keys.requireUnrestricted(caller)
      const own = await database.transaction(async (transaction) => {
        await requireActive(transaction, accountId, projectId)
        const model = listModels(place).find(({ id }) => id === modelId)
        if (model === undefined) throw notFound('rate limit')
        const [before] = await transaction.query<RatesRow>(
          `SELECT ${COLUMNS} FROM project_rate_limits WHERE project_id = $1 AND model = $2 FOR UPDATE`,
          [projectId, model.id],
        )
        const after = { ...(before === undefined ? NONE : ratesFromRow(before)), ...changes }
        await transaction.query(WRITE, [
          projectId,
          accountId,
          model.id,
          ...valuesOf(after),
          new Date(clock.nowMs()),
        ])
        await recordChange(transaction, {
          actor: caller,
          type: 'rate_limit.updated',
          projectId,
          resourceId: `rl-${model.id}`,
          details: { changes_requested: changesToWire(changes), project_id: wireId('project', projectId) },
        })
        return { model, own: after }
      })
      await keys.announceAccountChange(accountId)
      return own
    },
  }
}

const NONE: ProjectModelRates = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  imagesPerMinute: null,
  audioMegabytesPerMinute: null,
  requestsPerDay: null,
}

interface RatesRow {
  readonly model: string
  readonly requests_per_minute: bigint | null
  readonly tokens_per_minute: bigint | null
  readonly images_per_minute: bigint | null
  readonly audio_megabytes_per_minute: bigint | null
  readonly requests_per_day: bigint | null
}

const COLUMNS =
  'model, requests_per_minute, tokens_per_minute, images_per_minute, audio_megabytes_per_minute, requests_per_day'

const WRITE = `
  INSERT INTO project_rate_limits (project_id, account_id, ${COLUMNS}, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (project_id, model) DO UPDATE SET requests_per_minute = excluded.requests_per_minute,
    tokens_per_minute = excluded.tokens_per_minute, images_per_minute = excluded.images_per_minute,
    audio_megabytes_per_minute = excluded.audio_megabytes_per_minute, requests_per_day = excluded.requests_per_day,
    updated_at = excluded.updated_at`

function ratesFromRow(row: RatesRow): ProjectModelRates {
  return {
    requestsPerMinute: numberOrNull(row.requests_per_minute),
    tokensPerMinute: numberOrNull(row.tokens_per_minute),
    imagesPerMinute: numberOrNull(row.images_per_minute),
    audioMegabytesPerMinute: numberOrNull(row.audio_megabytes_per_minute),
    requestsPerDay: numberOrNull(row.requests_per_day),
  }
}

function valuesOf(rates: ProjectModelRates): (number | null)[] {
  return [
    rates.requestsPerMinute,
    rates.tokensPerMinute,
    rates.imagesPerMinute,
    rates.audioMegabytesPerMinute,
    rates.requestsPerDay,
  ]
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}

function changesToWire(changes: Partial<ProjectModelRates>): Record<string, number | null | undefined> {
  return {
    max_requests_per_1_minute: changes.requestsPerMinute,
    max_tokens_per_1_minute: changes.tokensPerMinute,
    max_images_per_1_minute: changes.imagesPerMinute,
    max_audio_megabytes_per_1_minute: changes.audioMegabytesPerMinute,
    max_requests_per_1_day: changes.requestsPerDay,
  }
}
