import type { Catalog } from '../../modules/catalog/catalog.ts'
import { vendorOf } from '../../providers/vendors.ts'
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts'
import { VERSION } from '../version.ts'

/** Creates the metrics, with the names that only the catalog and the vendors know. */
export function buildMetrics(catalog: Pick<Catalog, 'hasName'>): Metrics {
  return createMetrics({
    isKnownModel: (model) => catalog.hasName(model),
    traceNameOf: (provider) => vendorOf(provider)?.traceName ?? provider,
    version: VERSION,
  })
}
