import { join } from 'node:path'
import type { ModelFiles } from '../../gpu/model-files.ts'
import { createGpuRegistry, type GpuRegistry } from '../../gpu/registry.ts'
import { createCachedHub } from '../../hub/cached-hub.ts'
import { createHub } from '../../hub/hub.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { createSandboxDriver } from '../../gpu/sandbox/sandbox-driver.ts'
import {
  createDeployments,
  createModelDownloads,
  createPrefetches,
  modelIdOf,
  providerKeyOf,
  readTokenOfRun,
  startPrefetchRunner,
  type Deployments,
  type DeploymentsOptions,
  type HubUse,
  type Prefetches,
} from '../../modules/deployments/deployments.ts'
import type { Catalog } from '../../modules/catalog/catalog.ts'
import type { MayUseSandbox } from '../../modules/inference/inference.ts'
import type { Keys } from '../../modules/keys/keys.ts'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { createSandboxMachines } from '../../storage/sandbox-machines.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Config } from '../settings/config.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import { buildModelCache } from './build-model-cache.ts'
import type { ModelCache } from '../../hub/model-cache/model-cache.ts'
import { hubEndpoint } from './hub-endpoint.ts'
import { createHubTokenUse, type HubTokenUse } from './hub-token-use.ts'
import { engineSlotsOf } from './build-limits.ts'
import { scrapeEngine } from './scrape-engine.ts'
import type { BuiltDriver } from './built-driver.ts'
import { buildLocalDriver, isLocalEndpoint } from './build-local-gpu.ts'
import { createEngineConnections } from './engine-connections.ts'

interface DeploymentParts extends Pick<DeploymentsOptions, 'database' | 'messageBus' | 'clock' | 'sealer'> {
  readonly logger: GatewayLogger
  readonly ledger: Ledger
  readonly keys: Pick<Keys, 'callerOf'>
  readonly limits: Pick<Limits, 'acquireSlot'>
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly mayUseSandbox: MayUseSandbox
  readonly outbound: Outbound
}

export interface BuiltDeployments {
  readonly deployments: Deployments
  readonly gpus: GpuRegistry
  readonly modelCache: ModelCache
  readonly sealer: Sealer
  readonly prefetches: Prefetches
  close(): Promise<void>
}

const SANDBOX = 'sandbox'
const LOCAL = 'local'
const GIGA = 1_000_000_000

/** Builds deployments: their models in the catalog and the provider that serves them. */
export async function buildDeployments(config: Config, parts: DeploymentParts): Promise<BuiltDeployments> {
  const { clock, logger, ledger, catalog, providers, mayUseSandbox, sealer } = parts
  const modelCache = buildModelCache(config, parts)
  const hub = createCachedHub({
    hub: createHub({
      outbound: parts.outbound,
      endpoint: hubEndpoint(config),
      token: config.hfToken,
    }),
    clock,
  })
  const downloads = createModelDownloads({
    hub,
    cache: modelCache,
    clock,
    directory: join(config.dataDir, 'engines', 'located'),
  })
  const tokenUse = createHubTokenUse(config, parts.database)
  const mayUseHubToken = (accountId: string) => tokenUse.isAllowed(accountId)
  const built = await Promise.all(
    config.gpuDriver.map((name) => buildDriver(name, config, { ...parts, tokenUse }, downloads)),
  )
  const engines = connectEngines(config, built)
  const gpus = createGpuRegistry({
    drivers: built.map(({ driver }) => driver),
    onFailure: (driver, error) =>
      logger.warn({ driver, err: error }, 'a GPU driver could not tell its capacity'),
  })
  const deployments = await createDeployments({
    ...parts,
    gpus,
    hub,
    hubUseOf: (driverId) => hubUseOf(config, driverId),
    cacheOf: (driverId) => (hasOwnCache(driverId) ? modelCache : null),
    sealer,
    mayUseHubToken,
    ledger: config.billing ? ledger : null,
    callerOf: parts.keys.callerOf,
    isOffered: (viewer, driverId) => driverId !== SANDBOX || mayUseSandbox(viewer),
    connect: (driverId, endpoint) =>
      driverId === SANDBOX ? providers.sandbox : engines.connect(driverId, endpoint),
    acquireSlot: ({ deployment, keyId, cancellation, giveWay }) =>
      parts.limits.acquireSlot({
        pool: modelIdOf(deployment.id),
        slots: engineSlotsOf(config, gpus, deployment),
        accountId: keyId,
        cancellation,
        giveWay,
      }),
    scrape: scrapeEngine,
    drainMs: config.gpuDrainMs,
    sliceSeconds: config.gpuSliceSeconds,
    wakeMsMax: config.gpuWakeMs,
  })
  catalog.addSource(deployments.models)
  for (const provider of deployments.providers) providers.add(providerKeyOf(provider.id), provider)
  const ahead = {
    ...parts,
    hub,
    sealer,
    mayUseHubToken,
    cache: config.gpuDriver.some(hasOwnCache) ? modelCache : null,
    ledger: config.billing ? ledger : null,
    bytesMax: config.modelCacheGb * GIGA,
  }
  const prefetches = createPrefetches(ahead)
  const runner = config.role === 'api' ? null : startPrefetchRunner({ ...ahead, leaseMs: config.leaseMs * 2 })
  const close = async () => {
    await runner?.close()
    downloads.close()
    await deployments.close()
    await engines.close()
    for (const driver of built) await driver.close?.()
  }
  return { deployments, gpus, modelCache, sealer, prefetches, close }
}

interface Engines {
  connect(driverId: string, endpoint: string): Provider
  close(): Promise<void>
}

/** Each driver may reach only its own engines. */
function connectEngines({ upstreamConnectTimeoutMs }: Config, built: readonly BuiltDriver[]): Engines {
  const byDriver = new Map(
    built.map((one) => [
      one.driver.id,
      createEngineConnections({
        driverId: one.driver.id,
        isEndpoint: (endpoint) => one.isEndpoint(endpoint),
        connectTimeoutMs: upstreamConnectTimeoutMs,
      }),
    ]),
  )
  return {
    connect: (driverId, endpoint) => {
      const engines = byDriver.get(driverId)
      if (engines === undefined) throw new Error(`there is no driver ${driverId}`)
      return engines.connect(endpoint)
    },
    close: async () => {
      for (const engines of byDriver.values()) await engines.close()
    },
  }
}

/** Returns whether a driver's engines use the cache of this machine. A cluster has its own, which this machine cannot fill. */
function hasOwnCache(driverId: string): boolean {
  return driverId === LOCAL || driverId === SANDBOX
}

/** Returns `never` for local engines with a models directory, because its models may not be on the hub. */
function hubUseOf({ localGpu }: Config, driverId: string): HubUse {
  if (driverId === SANDBOX) return 'when_reachable'
  return driverId === LOCAL && localGpu.modelsDirectory !== null ? 'never' : 'always'
}

type DriverName = Config['gpuDriver'][number]

async function buildDriver(
  name: DriverName,
  config: Config,
  parts: DeploymentParts & { readonly tokenUse: HubTokenUse },
  files: ModelFiles,
): Promise<BuiltDriver> {
  const { database, clock, sealer, tokenUse } = parts
  if (name === 'local') {
    const readToken = (runId: string) => readTokenOfRun(database, sealer, runId)
    const report = (problem: string) => parts.logger.warn({}, problem)
    const driver = await buildLocalDriver(config, {
      clock,
      files,
      readToken,
      mayUseHubToken: (runId) => tokenUse.isAllowedForRun(runId),
      report,
      tell: (text) => parts.logger.info({}, text),
    })
    return { driver, isEndpoint: isLocalEndpoint }
  }
  if (name === 'kubernetes') {
    // Loaded only here, because its client is large.
    const { buildKubernetesDriver } = await import('./build-kubernetes-gpu.ts')
    return buildKubernetesDriver(config, parts)
  }
  const machines = createSandboxMachines(database)
  const timings = sandboxTimings(config.sandboxGpuStartMs)
  const tiers = config.sandboxGpuTiers
  return { driver: createSandboxDriver({ machines, clock, tiers, timings }), isEndpoint: () => false }
}

/** Divides the start time: a fifth to get a GPU, the rest to load the model. */
function sandboxTimings(startMs: number) {
  const bindMs = Math.floor(startMs / 5)
  return { bindMs, loadMs: startMs - bindMs, releaseMs: Math.min(1_000, bindMs) }
}
