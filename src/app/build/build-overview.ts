import { composeOverview } from '../overview/compose-overview.ts'
import { listFailingAccounts, readAccountNames } from '../overview/describe-failing-provider.ts'
import { createReporter } from '../overview/create-report.ts'
import { createLiveFeed } from '../overview/live-feed.ts'
import { createProcessReports } from '../overview/process-reports.ts'
import { createProviderStatuses } from '../overview/provider-statuses.ts'
import { createSharedStateReader } from '../overview/read-shared-state.ts'
import { createRequestFeed } from '../overview/request-feed.ts'
import { createRecentProviders } from '../overview/recent-providers.ts'
import type { LiveFeed } from '../../http/routes/operator/admin-live.ts'
import type { RequestFeed } from '../../http/routes/operator/admin-requests-live.ts'
import type { ProviderStatuses } from '../../http/routes/operator/admin-providers.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Config } from '../settings/config.ts'
import { listLocalModels } from './build-limits.ts'
import type { Modules } from './build-modules.ts'
import { hasProviders, listFirstProviderEnds } from './build-offer.ts'

/** What operators see of all processes together. */
export interface Overview {
  readonly providers: ProviderStatuses
  readonly live: LiveFeed
  readonly requests: RequestFeed
  close(): void
}

interface OverviewParts {
  readonly modules: Modules
  readonly isWorkerRunning: () => boolean
  readonly isShuttingDown: () => boolean
}

export function buildOverview(config: Config, parts: OverviewParts): Overview {
  const { modules, isWorkerRunning, isShuttingDown } = parts
  const { database, messageBus, metrics, pool, ledger, catalog, providers, offer, clock, limits } = modules
  const recent = createRecentProviders(() => metrics.figures().byProvider)
  const readPool = () => pool.poolState
  const createReport = createReporter({ config, metrics, recent, limits, readPool, ledger, isWorkerRunning })
  const reports = createProcessReports({ messageBus, createReport })
  const listPools = (): Map<string, number> =>
    new Map(listLocalModels(config, modules).map(({ pool, slots }) => [pool, slots]))
  const readShared = createSharedStateReader({ ...modules, listPools: () => [...listPools().keys()] })
  const readOverview = async () => {
    const [shared] = await Promise.all([readShared().catch(orIfAway), reports.gather()])
    const accountNames = await readAccountNames(database, listFailingAccounts(reports.list())).catch(orIfAway)
    return composeOverview({
      accountNames: accountNames ?? new Map<string, string>(),
      nowMs: clock.nowMs(),
      histories: reports.list(),
      shared,
      slots: [...listPools().values()].reduce((sum, slots) => sum + slots, 0),
      hasProviders: hasProviders(config, modules.offer),
    })
  }
  return {
    providers: createProviderStatuses({
      config,
      catalog,
      providers,
      offer,
      reports,
      limits,
      clock,
      listFirstProviderEnds: () => listFirstProviderEnds(config, modules),
    }),
    live: createLiveFeed({ readOverview, isShuttingDown }),
    requests: createRequestFeed({ requestLog: modules.requestLog, clock, isShuttingDown }),
    close: () => {
      recent.close()
      reports.close()
    },
  }
}

/** An outage of the database is part of the picture. */
function orIfAway(error: unknown): null {
  if (error instanceof AppError && error.code === 'service_unavailable') return null
  throw error
}
