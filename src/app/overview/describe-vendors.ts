import { canListModels } from '../../providers/list-models.ts'
import { addressOf, needsAddress, VENDORS } from '../../providers/vendors.ts'

/** Describes what an operator has to give for a provider of each vendor. */
export function describeVendors() {
  return VENDORS.map((vendor) => {
    const { id, wire, adapters = [], modelList } = vendor
    const address = addressOf(vendor).common ?? modelList?.baseUrl ?? null
    const isOwnServer = wire !== undefined && wire.defaultBaseUrl === null
    return {
      id,
      object: 'vendor' as const,
      default_base_url: address,
      needs_key: !isOwnServer || adapters.length > 0,
      needs_base_url: needsAddress(vendor),
      lists_models: canListModels(id, { apiKeys: [''], baseUrl: address }),
    }
  })
}
