import { invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { checkTerms, describeEntry, type Catalog } from '../../modules/catalog/catalog.ts'
import type { AdjustmentRules, ModelRules } from '../../modules/offer/offer.ts'
import { VENDORS } from '../../providers/vendors.ts'

export type OfferedCatalog = Pick<
  Catalog,
  'useOffer' | 'refresh' | 'checkEntry' | 'isOfFile' | 'find' | 'listFilePrices'
>

/** The rules of the catalog file, for models that operators add while the gateway runs. */
export function createModelRules(
  catalog: OfferedCatalog,
  { isProvider, clock }: { readonly isProvider: (id: string) => boolean; readonly clock: Clock },
): ModelRules & AdjustmentRules {
  const isKnown = (id: string) => isProvider(id) || VENDORS.some((vendor) => vendor.id === id)
  return {
    check: (entry, { providers, costs = [] } = {}) => {
      const { model, ...checked } = catalog.checkEntry(entry, costs)
      // A file may name providers that are not there.
      if (catalog.isOfFile(entry.id)) return { aliases: model.aliases, ...checked }
      for (const [index, { provider }] of model.routes.entries())
        if (!isKnown(provider) && providers?.has(provider) !== true)
          throw invalidValue(`routes.${index}.provider`, `There is no provider '${provider}'.`)
      return { aliases: model.aliases, ...checked }
    },
    checkTerms: (given, id) => {
      const model = id === null ? null : catalog.find(id)
      if (model === undefined) throw invalidValue('model', `There is no model with the id '${id}'.`)
      return checkTerms(given, { model, nowMs: clock.nowMs() })
    },
    isOfFile: (name) => catalog.isOfFile(name),
    fileEntryOf: (id) => {
      const model = catalog.find(id)?.first
      return model === undefined || model.isOffered === true ? null : { ...describeEntry(model), id }
    },
  }
}
