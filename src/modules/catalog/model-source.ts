import type { CatalogModel } from './catalog-model.ts'

/** Who asks which models there are. */
export interface ModelViewer {
  readonly accountId: string
  readonly environment: 'live' | 'prod' | 'staging' | 'test' | 'dev'
  readonly isOperator?: boolean
}

/** Models besides those of the catalog file, such as an account's own. Look-ups wait for nothing. */
export interface ModelSource {
  /** Undefined for whom it is not there. The same object until something about the model changes. */
  resolve(viewer: ModelViewer, modelId: string): CatalogModel | undefined
  /** Those that can be used now. */
  list(viewer: ModelViewer): CatalogModel[]
}
