import { adminConfigRoutes } from '../../http/routes/offer/admin-config.ts'
import { deprecationRoutes } from '../../http/routes/account/deprecations.ts'
import { adminDeprecationRoutes } from '../../http/routes/offer/admin-deprecations.ts'
import { adminModelPriceRoutes } from '../../http/routes/offer/admin-model-prices.ts'
import { adminPriceAdjustmentRoutes } from '../../http/routes/offer/admin-price-adjustments.ts'
import { adminModelRoutes } from '../../http/routes/offer/admin-models.ts'
import { adminPriceImportRoutes } from '../../http/routes/offer/admin-price-imports.ts'
import { adminProviderChangeRoutes } from '../../http/routes/operator/admin-provider-changes.ts'
import type { ProviderStatuses } from '../../http/routes/operator/admin-providers.ts'
import type { Route } from '../../http/route.ts'
import { createPriceImports } from '../../modules/price-import/price-import.ts'
import type { Modules } from './build-modules.ts'

interface OfferRouteOptions {
  readonly modules: Pick<
    Modules,
    'audit' | 'catalog' | 'clock' | 'deprecations' | 'offer' | 'outbound' | 'providers'
  >
  readonly providers: ProviderStatuses
}

/** The routes with which operators change what is served, while the gateway runs. */
export function buildOfferRoutes({ modules, providers }: OfferRouteOptions): Route[] {
  const { offer, audit, catalog, clock, outbound } = modules
  const priceImports = createPriceImports({
    catalog,
    models: offer.models,
    isConfigured: (provider) => modules.providers.get(provider) !== undefined,
    outbound,
    clock,
  })
  return [
    ...adminProviderChangeRoutes({ offer, providers, audit }),
    ...adminModelRoutes(modules),
    ...adminModelPriceRoutes(modules),
    ...adminPriceAdjustmentRoutes(modules),
    ...adminConfigRoutes(modules),
    ...adminPriceImportRoutes({ priceImports, audit }),
    ...adminDeprecationRoutes(modules),
    ...deprecationRoutes(modules),
  ]
}
