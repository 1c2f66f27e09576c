import { nearestName } from '../../kernel/nearest-name.ts'
import type { Catalog } from '../../modules/catalog/catalog.ts'
import type { FindUnknownModel } from '../../modules/keys/keys.ts'

/** Models of deployments, which a key may be given before they exist. */
const OWN_MODEL = /^byom-/
/** Comparing a longer name with all others would take long. */
const COMPARED_LENGTH_MAX = 64

/** Finds names that neither the catalog nor an account's own models have. */
export function findUnknownModelIn(catalog: Pick<Catalog, 'resolveFor' | 'listFor'>): FindUnknownModel {
  return (user, names) => {
    const name = names.find((one) => !OWN_MODEL.test(one) && catalog.resolveFor(user, one) === undefined)
    if (name === undefined) return null
    if (name.length > COMPARED_LENGTH_MAX) return { name, meant: null }
    const known = catalog
      .listFor(user, { includeServices: true })
      .flatMap(({ id, aliases }) => [id, ...aliases])
    return { name, meant: nearestName(name, known) }
  }
}
