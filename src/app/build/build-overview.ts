import { createReporter } from '../overview/create-report.ts'
import { createProcessReports } from '../overview/process-reports.ts'
import { createProviderStatuses } from '../overview/provider-statuses.ts'
import { createRecentProviders } from '../overview/recent-providers.ts'
import type { ProviderStatuses } from '../../http/routes/operator/admin-providers.ts'
import type { Config } from '../settings/config.ts'
import type { Modules } from './build-modules.ts'

/** What operators see of all processes together. */
export interface Overview {
  readonly providers: ProviderStatuses
  close(): void
}

export function buildOverview(
  config: Config,
  { modules, isWorkerRunning }: { modules: Modules; isWorkerRunning: () => boolean },
): Overview {
  const { messageBus, metrics, readPool, ledger, catalog, providers, clock } = modules
  const recent = createRecentProviders(() => metrics.figures().byProvider)
  const createReport = createReporter({ config, metrics, recent, readPool, ledger, isWorkerRunning })
  const reports = createProcessReports({ messageBus, createReport })
  return {
    providers: createProviderStatuses({ config, catalog, providers, reports, clock }),
    close: () => {
      recent.close()
      reports.close()
    },
  }
}
