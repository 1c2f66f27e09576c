import type { Catalog } from '../../modules/catalog/catalog.ts'

/** A small one that everybody has heard of, which the sandbox plays too. */
const FAMILIAR_MODEL = 'gpt-4o-mini'

/** A model for a first request: one that a configured provider serves, where there is one. */
export function exampleModel(
  catalog: Pick<Catalog, 'list' | 'resolve'>,
  isConfigured: (providerId: string) => boolean,
): string {
  const familiar = catalog.resolve(FAMILIAR_MODEL)
  const models = [...(familiar ? [familiar] : []), ...catalog.list({ category: 'llm' })]
  const served = models.find(({ routes }) => routes.some(({ provider }) => isConfigured(provider)))
  return (served ?? models[0])?.id ?? FAMILIAR_MODEL
}
