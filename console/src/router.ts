import type { QueryClient } from '@tanstack/react-query'
import { createRouter, defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router'
import { takeProject, withProject } from './api/project.ts'
import { acceptInviteRoute } from './pages/accept-invite/route.ts'
import { accountRoute } from './pages/account/route.ts'
import { accountsRoute } from './pages/accounts/route.ts'
import { analyticsRoute } from './pages/analytics/route.ts'
import { auditRoute } from './pages/audit/route.ts'
import { billingRoute } from './pages/billing/route.ts'
import { compareRoute } from './pages/compare/route.ts'
import { compareRunRoute } from './pages/compare-run/route.ts'
import { configurationRoute } from './pages/configuration/route.ts'
import { deploymentRoute } from './pages/deployment/route.ts'
import { batchRoute } from './pages/batch/route.ts'
import { batchesRoute } from './pages/batches/route.ts'
import { filesRoute } from './pages/files/route.ts'
import { deploymentsRoute } from './pages/deployments/route.ts'
import { doctorRoute } from './pages/doctor/route.ts'
import { deprecationsRoute } from './pages/deprecations/route.ts'
import { deviceRoute } from './pages/device/route.ts'
import { homeRoute } from './pages/home/route.ts'
import { identityProvidersRoute } from './pages/identity-providers/route.ts'
import { keysRoute } from './pages/keys/route.ts'
import { ledgerRoute } from './pages/ledger/route.ts'
import { logRoute } from './pages/log/route.ts'
import { modelRoute } from './pages/model/route.ts'
import { modelsRoute } from './pages/models/route.ts'
import { modelSettingsRoute } from './pages/model-settings/route.ts'
import { newDeploymentRoute } from './pages/new-deployment/route.ts'
import { organizationRoute } from './pages/organization/route.ts'
import { overviewRoute } from './pages/overview/route.ts'
import { paymentsRoute } from './pages/payments/route.ts'
import { playgroundRoute } from './pages/playground/route.ts'
import { profileRoute } from './pages/profile/route.ts'
import { projectRoute } from './pages/project/route.ts'
import { promoCodesRoute } from './pages/promo-codes/route.ts'
import { providersRoute } from './pages/providers/route.ts'
import { requestsRoute } from './pages/requests/route.ts'
import { signInRoute } from './pages/sign-in/route.ts'
import { statementRoute } from './pages/statement/route.ts'
import { statementsRoute } from './pages/statements/route.ts'
import { tasksRoute } from './pages/tasks/route.ts'
import { usageRoute } from './pages/usage/route.ts'
import { FailedPage } from './shell/failed-page.tsx'
import { rootRoute } from './shell/root-route.tsx'
import { notFoundRoute } from './shell/not-found-route.ts'
import { shellRoute } from './shell/shell-route.tsx'
import { withoutTables } from './ui/data/table/use-address-text.ts'

/** The pages that need a session. */
const pages = {
  homeRoute,
  playgroundRoute,
  modelsRoute,
  modelRoute,
  tasksRoute,
  usageRoute,
  compareRoute,
  compareRunRoute,
  batchesRoute,
  filesRoute,
  batchRoute,
  deploymentsRoute,
  newDeploymentRoute,
  deploymentRoute,
  logRoute,
  keysRoute,
  billingRoute,
  ledgerRoute,
  statementsRoute,
  statementRoute,
  organizationRoute,
  projectRoute,
  profileRoute,
  deviceRoute,
  overviewRoute,
  doctorRoute,
  analyticsRoute,
  requestsRoute,
  accountsRoute,
  accountRoute,
  providersRoute,
  modelSettingsRoute,
  deprecationsRoute,
  configurationRoute,
  identityProvidersRoute,
  paymentsRoute,
  promoCodesRoute,
  auditRoute,
  notFoundRoute,
}

const routeTree = rootRoute.addChildren({
  signInRoute,
  acceptInviteRoute,
  shellRoute: shellRoute.addChildren(pages),
})

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    // The project of the tab is in every address, without any page knowing of it, and so is how tables are arranged.
    parseSearch: (text) => withoutTables(takeProject(defaultParseSearch(text))),
    stringifySearch: (search) => defaultStringifySearch(withProject(search)),
    defaultPreload: 'intent',
    // The query cache decides what is fresh.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    // In the place of the page, so that the navigation around it stays.
    defaultErrorComponent: FailedPage,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
