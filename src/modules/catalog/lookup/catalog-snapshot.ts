import type { CatalogModel } from '../catalog-model.ts'
import type { ModelNames } from './loose-names.ts'
import type { ModelViewer } from './model-source.ts'
import { modelAt, type TimedModel } from './timed-model.ts'

/** All models of one version of the catalog. Replaced as a whole. */
export interface CatalogSnapshot {
  readonly models: readonly TimedModel[]
  readonly byName: ReadonlyMap<string, TimedModel>
  /** By the id of a model, the successor that can do what it can. */
  readonly heirs: ReadonlyMap<string, TimedModel>
  /** Models that operators removed, for work that began before. */
  readonly former: ReadonlyMap<string, CatalogModel>
}

export function createSnapshot(
  models: readonly TimedModel[],
  former: ReadonlyMap<string, CatalogModel>,
): CatalogSnapshot {
  const byName = new Map<string, TimedModel>()
  for (const timed of models)
    for (const name of [timed.first.id, ...timed.first.aliases]) byName.set(name, timed)
  const heirs = new Map<string, TimedModel>()
  for (const { first } of models) {
    const heir = first.successor === undefined ? undefined : byName.get(first.successor)
    if (heir !== undefined && canSucceed(heir.first, first)) heirs.set(first.id, heir)
  }
  return { models, byName, heirs, former }
}

/**
 * Whether one model can do all that another can. An operator may have changed or removed the successor, which must not stop the
 * start. A successor with a successor is not followed, so that one step finds the model that answers.
 */
function canSucceed(heir: CatalogModel, { category, capabilities }: CatalogModel): boolean {
  return (
    heir.successor === undefined &&
    heir.category === category &&
    [...capabilities].every((one) => heir.capabilities.has(one))
  )
}

/** The names at a moment, as this viewer sees them. Without a viewer, all of them. */
export function namesAt(
  { byName }: CatalogSnapshot,
  { atMs, viewer }: { readonly atMs: number; readonly viewer: ModelViewer | null },
): ModelNames {
  return {
    get: (name) => {
      const timed = byName.get(name)
      if (timed === undefined) return undefined
      return viewer === null || isVisibleTo(timed.first, viewer) ? modelAt(timed, atMs) : undefined
    },
  }
}

/** Costs a comparison for a model that everybody sees. */
export function isVisibleTo(
  { visibility }: CatalogModel,
  { accountId, projectId }: Pick<ModelViewer, 'accountId' | 'projectId'>,
): boolean {
  if (visibility === undefined) return true
  // The project `Default` has the id of its account.
  return visibility.accountIds.has(accountId) || visibility.projectIds.has(projectId ?? accountId)
}
