import type { Catalog } from '../../modules/catalog/catalog.ts'

/** A small, well-known model, which the sandbox simulates too. */
const FAMILIAR_MODEL = 'gpt-5.6-luna'

/** Returns a model for a first request, if possible one that a configured provider serves. */
export function exampleModel(
  catalog: Pick<Catalog, 'list' | 'resolve'>,
  isConfigured: (providerId: string) => boolean,
): string {
  const familiar = catalog.resolve(FAMILIAR_MODEL)
  const models = [...(familiar ? [familiar] : []), ...catalog.list({ category: 'llm' })]
  const served = models.find(({ routes }) => routes.some(({ provider }) => isConfigured(provider)))
  return (served ?? models[0])?.id ?? FAMILIAR_MODEL
}
