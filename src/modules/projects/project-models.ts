import { AppError } from '../../kernel/app-error.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import type { ProjectOptions } from './project-options.ts'
import { readProject, requireActive } from './read-project.ts'

/** Which models a project may use: only the named ones, or all but those. */
export interface ProjectModels {
  readonly mode: 'allow_list' | 'deny_list'
  readonly modelIds: readonly string[]
}

interface ProjectPlace {
  readonly caller: Caller
  readonly projectId: string
}

/** All functions throw `not_found` for a project of another account. */
export interface ProjectModelPermissions {
  /** Of a project without permissions of its own: an empty list of what it may not use. */
  read(accountId: string, projectId: string): Promise<ProjectModels>
  /** Returns after every process has applied them to every key of the project. */
  set(place: ProjectPlace, models: ProjectModels): Promise<ProjectModels>
  /** The project may use every model again. */
  delete(place: ProjectPlace): Promise<void>
}

export function createProjectModelPermissions(
  { database, clock, keys }: ProjectOptions,
  catalog: Pick<Catalog, 'resolve' | 'resolveFor'>,
): ProjectModelPermissions {
  return {
    read: async (accountId, projectId) => {
      const { id } = await readProject(database, accountId, projectId)
      const [row] = await database.query<{ mode: ProjectModels['mode']; model_ids: string[] }>(
        'SELECT mode, model_ids FROM project_model_permissions WHERE project_id = $1',
        [id],
      )
      return row === undefined ? ALL : { mode: row.mode, modelIds: row.model_ids }
    },
    set: async ({ caller, projectId }, { mode, modelIds }) => {
      const { accountId } = caller
      await keys.requireUnrestricted(caller)
      const models = { mode, modelIds: [...new Set(modelIds.map((name) => nameOf(catalog, caller, name)))] }
      await database.transaction(async (transaction) => {
        await requireActive(transaction, accountId, projectId)
        await transaction.query(
          `INSERT INTO project_model_permissions (project_id, account_id, mode, model_ids, updated_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (project_id) DO UPDATE SET mode = excluded.mode, model_ids = excluded.model_ids, updated_at = excluded.updated_at`,
          [projectId, accountId, models.mode, models.modelIds, new Date(clock.nowMs())],
        )
        await recordChange(transaction, {
          actor: caller,
          type: 'model_permissions.updated',
          projectId,
          resourceId: wireId('project', projectId),
          details: { changes_requested: { mode: models.mode, model_ids: models.modelIds } },
        })
      })
      await keys.announceAccountChange(accountId)
      return models
    },
    delete: async ({ caller, projectId }) => {
      const { accountId } = caller
      await keys.requireUnrestricted(caller)
      await database.transaction(async (transaction) => {
        await requireActive(transaction, accountId, projectId)
        const deleted = await transaction.query(
          'DELETE FROM project_model_permissions WHERE project_id = $1 RETURNING project_id',
          [projectId],
        )
        if (deleted.length === 0) return
        await recordChange(transaction, {
          actor: caller,
          type: 'model_permissions.deleted',
          projectId,
          resourceId: wireId('project', projectId),
        })
      })
      await keys.announceAccountChange(accountId)
    },
  }
}

const ALL: ProjectModels = { mode: 'deny_list', modelIds: [] }

/** Throws for a name that leads to no model: in a list of what is denied, a wrong name would deny nothing. */
function nameOf(catalog: Pick<Catalog, 'resolve' | 'resolveFor'>, caller: Caller, name: string): string {
  const found = catalog.resolveFor(caller, name)
  if (found !== undefined) return catalog.resolve(name) === undefined ? found.id : name
  throw new AppError('invalid_value', `There is no model '${name}'.`, { param: 'model_ids' })
}
