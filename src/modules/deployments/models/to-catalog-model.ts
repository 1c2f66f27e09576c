import type { CatalogModel } from '../../catalog/catalog.ts'
import { modelIdOf, type Deployment } from '../deployment.ts'

/** Returns the key of the provider for a driver's deployments. The colon avoids clashes with providers of the catalog. */
export function providerKeyOf(driverId: string): string {
  return `gpu:${driverId}`
}

/** Returns a deployment as a catalog model. Its tokens are free, because GPU time is charged. */
export function toCatalogModel(deployment: Deployment): CatalogModel {
  const { id, name, huggingfaceId, driver, maxModelLen } = deployment
  const [owner = huggingfaceId] = huggingfaceId.split('/')
  const modelId = modelIdOf(id)
  return {
    id: modelId,
    displayName: name,
    vendor: owner,
    category: 'llm',
    contextTokens: maxModelLen,
    maxOutputTokens: null,
    dimensions: null,
    capabilities: CAPABILITIES,
    price: FREE,
    isPriceListed: true,
    routes: [{ provider: providerKeyOf(driver), model: modelId, priority: 0, weight: 1, timeouts: {} }],
    aliases: [],
    delivery: 'sync',
    bounds: NO_BOUNDS,
    isListed: true,
    createdAt: new Date(deployment.createdAtMs),
    source: 'dedicated',
  }
}

const CAPABILITIES: CatalogModel['capabilities'] = new Set(['chat', 'tool_use'] as const)

const FREE: CatalogModel['price'] = {
  unit: 'token',
  inputNanoUsdPer1m: 0n,
  cachedInputNanoUsdPer1m: 0n,
  outputNanoUsdPer1m: 0n,
  longContext: [],
}

const NO_BOUNDS: CatalogModel['bounds'] = {
  imagesMax: null,
  sizes: null,
  sizeDefault: null,
  qualities: null,
  qualityDefault: null,
  aspectRatios: null,
  resolutions: null,
  resolutionDefault: null,
  responseFormatDefault: 'url',
  durations: null,
  dimensions: null,
}
