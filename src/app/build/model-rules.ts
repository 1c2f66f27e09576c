import { invalidValue } from '../../kernel/app-error.ts'
import { describeEntry, type Catalog } from '../../modules/catalog/catalog.ts'
import type { ModelRules } from '../../modules/offer/offer.ts'
import { VENDORS } from '../../providers/vendors.ts'

export type OfferedCatalog = Pick<
  Catalog,
  'useOffer' | 'refresh' | 'checkEntry' | 'isOfFile' | 'find' | 'listFilePrices'
>

/** The rules of the catalog file, for models that operators add while the gateway runs. */
export function createModelRules(catalog: OfferedCatalog, isProvider: (id: string) => boolean): ModelRules {
  const isKnown = (id: string) => isProvider(id) || VENDORS.some((vendor) => vendor.id === id)
  return {
    check: (entry, providers) => {
      const { model, rates } = catalog.checkEntry(entry)
      for (const [index, { provider }] of model.routes.entries())
        if (!isKnown(provider) && providers?.has(provider) !== true)
          throw invalidValue(`routes.${index}.provider`, `There is no provider '${provider}'.`)
      return { aliases: model.aliases, rates }
    },
    isOfFile: (name) => catalog.isOfFile(name),
    fileEntryOf: (id) => {
      const model = catalog.find(id)?.first
      return model === undefined || model.isOffered === true ? null : { ...describeEntry(model), id }
    },
  }
}
