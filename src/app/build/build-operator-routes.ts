import { adminAccountKeyRoutes } from '../../http/routes/operator/admin-account-keys.ts'
import { adminAccountRoutes } from '../../http/routes/operator/admin-accounts.ts'
import { adminAuditRoutes } from '../../http/routes/operator/admin-audit.ts'
import { adminCreditRoutes } from '../../http/routes/operator/admin-credit.ts'
import { adminDoctorRoutes } from '../../http/routes/operator/admin-doctor.ts'
import { adminExportRoutes } from '../../http/routes/operator/admin-exports.ts'
import { adminLimitRoutes } from '../../http/routes/operator/admin-limits.ts'
import { adminLiveRoutes } from '../../http/routes/operator/admin-live.ts'
import { adminOperatorRoutes } from '../../http/routes/operator/admin-operators.ts'
import { adminPaymentRoutes } from '../../http/routes/operator/admin-payments.ts'
import { adminPromoRoutes } from '../../http/routes/operator/admin-promo.ts'
import { adminProviderHealthRoutes } from '../../http/routes/operator/admin-provider-health.ts'
import { adminProviderRoutes } from '../../http/routes/operator/admin-providers.ts'
import { adminLiveRequestRoutes } from '../../http/routes/operator/admin-requests-live.ts'
import { adminRequestReplayRoutes } from '../../http/routes/operator/admin-request-replay.ts'
import { adminRequestRoutes } from '../../http/routes/operator/admin-requests.ts'
import { adminUsageRoutes } from '../../http/routes/operator/admin-usage.ts'
import { adminUserRoutes } from '../../http/routes/operator/admin-users.ts'
import { statusRoutes } from '../../http/status-page/status-routes.ts'
import { listSinks } from '../../modules/exports/exports.ts'
import type { People } from '../../modules/people/people.ts'
import type { Route } from '../../http/route.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import { createExaminer } from '../doctor/share-examination.ts'
import type { Config } from '../settings/config.ts'
import type { Modules } from './build-modules.ts'
import { listRegions } from './build-offer.ts'
import type { RunPaid } from '../../http/paid/run-paid.ts'
import type { Overview } from './build-overview.ts'

interface OperatorRouteParts {
  readonly config: Config
  readonly modules: Modules
  readonly people: People
  readonly overview: Overview
  readonly runPaid: RunPaid
  readonly logger: GatewayLogger
}

/** The routes of operators, except for what they offer, and the page that they may show everybody. */
export function buildOperatorRoutes({
  config,
  modules,
  people,
  overview,
  runPaid,
  logger,
}: OperatorRouteParts): Route[] {
  const { accounts, keys, providers, billing, promoCodes, audit, usage } = modules
  return [
    ...adminRequestRoutes({ ...modules, logger }),
    ...adminRequestReplayRoutes({ ...modules, runPaid }),
    ...adminLiveRequestRoutes({ feed: overview.requests, accounts, clock: modules.clock }),
    ...adminAccountRoutes({ accounts, audit, logger }),
    ...adminAccountKeyRoutes({ accounts, keys, usage, audit }),
    ...adminUserRoutes({ people, audit }),
    ...adminOperatorRoutes({ people, audit }),
    ...adminCreditRoutes({ accounts, billing, ledger: modules.ledger, audit, logger }),
    ...adminLimitRoutes({ accounts, limits: modules.limits, audit }),
    ...adminUsageRoutes({
      accounts,
      usage,
      clock: modules.clock,
      listRegions: () => listRegions(modules.offer),
      storeErrors: () => modules.requestLog.storeErrors(),
      logger,
    }),
    ...adminPaymentRoutes({ accounts, billing, audit, logger }),
    ...adminPromoRoutes({ promoCodes, audit }),
    ...adminAuditRoutes({ audit, logger }),
    ...adminProviderHealthRoutes({ vendors: usage.vendors, clock: modules.clock }),
    ...adminLiveRoutes({ live: overview.live }),
    ...adminExportRoutes({
      listSinks: () => listSinks(modules.database),
      kinds: new Map(Object.entries(config.exports).map(([name, { kind }]) => [name, kind])),
    }),
    ...adminDoctorRoutes({ examine: createExaminer({ config, ...modules }) }),
    ...adminProviderRoutes({ providers: overview.providers, audit }),
    ...statusRoutes({
      isOn: config.statusPage,
      vendors: usage.vendors,
      clock: modules.clock,
      logger,
      listProviders: () =>
        [
          ...new Set([...config.providers.keys(), ...modules.offer.listProviders().map(({ name }) => name)]),
        ].filter((name) => providers.get(name)?.isConfigured === true),
    }),
  ]
}
