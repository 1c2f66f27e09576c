import type { GpuRegistry } from '../../gpu/registry.ts'
import type { LocalModel } from '../../http/routes/tasks/queue.ts'
import type { Catalog, ModelViewer } from '../../modules/catalog/catalog.ts'
import {
  modelIdOf,
  providerKeyOf,
  type Deployment,
  type Deployments,
} from '../../modules/deployments/deployments.ts'
import { freeCredit, type Ledger } from '../../modules/ledger/ledger.ts'
import { createLimits, TierOverrides, type Balances, type Limits } from '../../modules/limits/limits.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'

interface LimitParts {
  readonly database: Database
  readonly messageBus: MessageBus
  readonly borrower: Borrower
  readonly ledger: Ledger
  readonly metrics: Metrics
  readonly logger: GatewayLogger
}

export async function buildLimits(
  config: Config,
  { ledger, metrics, ...parts }: LimitParts,
): Promise<Limits> {
  return createLimits({
    ...parts,
    overrides: await TierOverrides.open(parts),
    table: config.limits,
    balances: config.billing ? balancesOf(ledger) : PLENTY,
    observer: metrics.limits,
  })
}

function balancesOf(ledger: Ledger): Balances {
  return {
    knownOf: (accountId) => ledger.knownBalanceNanoUsd(accountId),
    read: (accountId) => ledger.lookUpBalanceNanoUsd(accountId),
  }
}

const PLENTY: Balances = {
  knownOf: freeCredit.knownBalanceNanoUsd,
  read: async () => freeCredit.knownBalanceNanoUsd(),
}

/** Returns how many requests an upstream processes at once, or null if it is not the operator's own. */
export function slotsOf(config: Config, { id, localSlots, isSingle }: Provider): number | null {
  // Each deployment has slots of its own.
  if (isSingle) return null
  return config.limits.localModels.slots.get(id) ?? localSlots ?? null
}

/** What an engine works on at once if neither the operator nor the driver says it. */
const ENGINE_SLOTS = 64

/** Returns how many requests a deployment processes at once. */
export function engineSlotsOf(
  config: Config,
  gpus: Pick<GpuRegistry, 'get'>,
  { driver, gpuTier }: Pick<Deployment, 'driver' | 'gpuTier'>,
): number {
  const configured = config.limits.localModels.slots.get(providerKeyOf(driver))
  return configured ?? gpus.get(driver)?.slotsOf?.(gpuTier) ?? ENGINE_SLOTS
}

/** Lists the deployments of an account that can be asked, each with a pool of its own. */
export function listOwnModels(
  config: Config,
  { deployments, gpus }: { deployments: Pick<Deployments, 'listServed'>; gpus: Pick<GpuRegistry, 'get'> },
  viewer: ModelViewer,
): LocalModel[] {
  return deployments.listServed(viewer).map((deployment) => ({
    model: modelIdOf(deployment.id),
    pool: modelIdOf(deployment.id),
    slots: engineSlotsOf(config, gpus, deployment),
    isReady: deployment.status === 'running',
    isServed: true,
  }))
}

/** Lists the models of upstreams with slots, each with the pool of its upstream. */
export function listLocalModels(
  config: Config,
  { catalog, providers }: { catalog: Catalog; providers: ProviderRegistry },
): LocalModel[] {
  return catalog.list().flatMap(({ id, routes }) =>
    routes.flatMap(({ provider: providerId }) => {
      const provider = providers.get(providerId)
      const slots = provider === undefined ? null : slotsOf(config, provider)
      return provider === undefined || slots === null
        ? []
        : [
            {
              model: id,
              pool: provider.id,
              slots,
              isReady: provider.isConfigured,
              isServed: provider.isConfigured,
            },
          ]
    }),
  )
}
