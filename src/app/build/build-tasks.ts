import { reclaimBatches } from '../../modules/batches/batches.ts'
import { reclaimSinks } from '../../modules/exports/exports.ts'
import type { Catalog } from '../../modules/catalog/catalog.ts'
import { reclaimRuns } from '../../modules/compare/compare.ts'
import { reclaimLeases } from '../../modules/ledger/ledger.ts'
import { reclaimSlots } from '../../modules/limits/limits.ts'
import {
  createTasks,
  daysToMs,
  reclaimTasks,
  type Tasks,
  type TasksOptions,
  type WebhookHosts,
} from '../../modules/tasks/tasks.ts'
import { parseAllowedHosts } from '../../outbound/allowed-hosts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import type { Reclaimer } from '../../storage/borrowing/borrower.ts'
import type { Config } from '../settings/config.ts'

/** Reclaim what a dead process held. Tasks first, because ending a task locks it before its account. */
export const RECLAIMERS: readonly Reclaimer[] = [
  reclaimTasks,
  reclaimRuns,
  reclaimBatches,
  reclaimSinks,
  reclaimLeases,
  reclaimSlots,
]

const HOUR_MS = 60 * 60_000

interface TaskParts extends Pick<
  TasksOptions,
  'database' | 'clock' | 'messageBus' | 'media' | 'logger' | 'writer' | 'quotaOf' | 'webhookSecrets'
> {
  readonly ledger: NonNullable<TasksOptions['ledger']>
  readonly catalog: Catalog
  readonly outbound: Outbound
  readonly providers: ProviderRegistry
}

export function buildTasks(
  config: Config,
  { catalog, providers, ledger, outbound, ...parts }: TaskParts,
): Tasks {
  return createTasks({
    ...parts,
    ledger: config.billing ? ledger : null,
    retentionMs: daysToMs(config.resultRetentionDays),
    addressMs: config.mediaAddressHours * HOUR_MS,
    webhookHosts: webhookHosts(config, outbound),
    isCancelBilled: (provider) => providers.get(provider)?.refundsCancelled !== true,
    providerOf: (modelId) => {
      const routes = catalog.resolveForWork(modelId)?.routes ?? []
      return (
        routes.find(({ provider }) => providers.get(provider)?.isConfigured === true)?.provider ?? 'sandbox'
      )
    },
  })
}

export function webhookHosts(config: Config, outbound: Pick<Outbound, 'requirePublic'>): WebhookHosts {
  const allowed = parseAllowedHosts(config.outboundAllow)
  return {
    isAllowed: (url) => allowed.hasHost(url) || allowed.hasAddress(url.hostname),
    requirePublic: (url) => outbound.requirePublic(url),
  }
}
