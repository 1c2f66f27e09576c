import { AppError } from '../../kernel/app-error.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Caller, ModelPermissions } from '../keys/keys.ts'

/** A list of names, and the models that they lead to. */
interface Listed {
  readonly generation: number
  /** A model that retires leads to its successor without a reload. */
  readonly untilMs: number
  readonly ids: ReadonlySet<string>
}

const listedOf = new WeakMap<ModelPermissions, Listed>()

/**
 * Whether the project of the caller may use this model. What counts is the model and not the name that was asked for, so that an alias is
 * no way around. Costs a comparison for a project without permissions of its own.
 */
export function mayUseModel(
  catalog: Pick<Catalog, 'generation' | 'resolve'>,
  { project = null }: Pick<Caller, 'project'>,
  { id }: { readonly id: string },
): boolean {
  if (project === null || project.models === null) return true
  const { mode } = project.models
  return readListed(catalog, project.models).ids.has(id) === (mode === 'allow_list')
}

/** The error of a request for a model that the project may not use. */
export function modelNotAllowed(requestedModel: string): AppError {
  const message = `The project of this API key may not use the model '${requestedModel}'.`
  return new AppError('model_not_allowed', message, { param: 'model' })
}

const LISTED_MS_MAX = 60_000

function readListed(catalog: Pick<Catalog, 'generation' | 'resolve'>, permissions: ModelPermissions): Listed {
  const known = listedOf.get(permissions)
  const { generation } = catalog
  const nowMs = performance.now()
  if (known?.generation === generation && nowMs < known.untilMs) return known
  // Deployments are not in the catalog, and have no other names.
  const ids = new Set([...permissions.modelIds].map((name) => catalog.resolve(name)?.id ?? name))
  const listed = { generation, ids, untilMs: nowMs + LISTED_MS_MAX }
  listedOf.set(permissions, listed)
  return listed
}
