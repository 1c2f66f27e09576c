import { canListModels } from '../../providers/list-models.ts'
import { VENDORS } from '../../providers/vendors.ts'

/** Describes what an operator has to give for a provider of each vendor. */
export function describeVendors() {
  return VENDORS.map(({ id, wire, adapters = [], modelList }) => {
    const address = wire?.defaultBaseUrl ?? modelList?.baseUrl ?? null
    const isOwnServer = wire !== undefined && wire.defaultBaseUrl === null
    return {
      id,
      object: 'vendor' as const,
      default_base_url: address,
      needs_key: !isOwnServer || adapters.length > 0,
      needs_base_url: isOwnServer,
      lists_models: canListModels(id, { apiKeys: [''], baseUrl: address }),
    }
  })
}
