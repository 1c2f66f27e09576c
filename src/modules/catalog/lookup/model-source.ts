import type { CatalogModel } from '../catalog-model.ts'
import type { Place } from '../../../storage/place.ts'

/** The account that looks up models. */
export interface ModelViewer extends Place {
  readonly environment: 'live' | 'prod' | 'staging' | 'test' | 'dev'
  readonly isOperator?: boolean
}

/** Models outside the catalog file, such as those of one account. Lookups are synchronous. */
export interface ModelSource {
  /** Returns undefined if the viewer may not use the model. Returns the same object until the model changes. */
  resolve(viewer: ModelViewer, modelId: string): CatalogModel | undefined
  /** Returns the models that can be used now. */
  list(viewer: ModelViewer): CatalogModel[]
}
