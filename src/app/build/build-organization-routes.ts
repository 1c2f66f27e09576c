import type { Route } from '../../http/route.ts'
import { adminApiKeyRoutes } from '../../http/routes/organization/admin-api-keys.ts'
import { auditLogRoutes } from '../../http/routes/organization/audit-logs.ts'
import { budgetRequestRoutes } from '../../http/routes/organization/budget-requests.ts'
import { budgetRoutes } from '../../http/routes/organization/budgets.ts'
import { dataRetentionRoutes } from '../../http/routes/organization/data-retention.ts'
import type { DeliverLink } from '../../http/routes/organization/deliver-link.ts'
import { organizationInviteRoutes } from '../../http/routes/organization/invites.ts'
import { projectApiKeyRoutes } from '../../http/routes/organization/project-api-keys.ts'
import { projectModelPermissionRoutes } from '../../http/routes/organization/project-model-permissions.ts'
import { projectRateLimitRoutes } from '../../http/routes/organization/project-rate-limits.ts'
import { projectServiceAccountRoutes } from '../../http/routes/organization/project-service-accounts.ts'
import { projectUserRoutes } from '../../http/routes/organization/project-users.ts'
import { organizationProjectRoutes } from '../../http/routes/organization/projects.ts'
import { receiptRoutes } from '../../http/routes/organization/receipts.ts'
import { spendAlertRoutes } from '../../http/routes/organization/spend-alerts.ts'
import { spendLimitRoutes } from '../../http/routes/organization/spend-limits.ts'
import { organizationUsageRoutes } from '../../http/routes/organization/usage.ts'
import { userSignInRoutes } from '../../http/routes/organization/user-sign-in.ts'
import { organizationUserRoutes } from '../../http/routes/organization/users.ts'
import type { Groups } from '../../modules/groups/groups.ts'
import type { People } from '../../modules/people/people.ts'
import type { Projects } from '../../modules/projects/projects.ts'
import { createDataRetention } from '../../modules/request-log/request-log.ts'
import type { Roles } from '../../modules/roles/roles.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import { buildGroupAndRoleRoutes } from './build-group-and-role-routes.ts'
import type { Modules } from './build-modules.ts'

interface OrganizationParts {
  readonly modules: Modules
  readonly people: People
  readonly projects: Projects
  readonly groups: Groups
  readonly roles: Roles
  readonly deliverLink: DeliverLink
  readonly logger: GatewayLogger
}

/** The routes of OpenAI's Administration API. */
export function buildOrganizationRoutes(parts: OrganizationParts): Route[] {
  const { modules, people, projects, groups, roles, deliverLink, logger } = parts
  const { accounts, audit, budgets, catalog, clock, keys, limits, storedBodies, usage } = modules
  const dataRetention = createDataRetention({
    database: modules.database,
    keys,
    announcePolicies: (accountId) => storedBodies.announcePolicies(accountId),
  })
  return [
    ...adminApiKeyRoutes({ keys, accounts, clock }),
    ...auditLogRoutes({ audit }),
    ...organizationUsageRoutes({ usage, clock }),
    ...receiptRoutes({ receipts: modules.receipts, logger }),
    ...organizationProjectRoutes({ projects }),
    ...projectUserRoutes({ projects }),
    ...projectServiceAccountRoutes({ projects }),
    ...projectApiKeyRoutes({ projects, keys }),
    ...dataRetentionRoutes({ dataRetention }),
    ...projectModelPermissionRoutes({ projects }),
    ...projectRateLimitRoutes({ projects, limits, catalog }),
    ...buildGroupAndRoleRoutes({ groups, roles, people }),
    ...organizationUserRoutes({ people }),
    ...budgetRoutes({ budgets, catalog }),
    ...budgetRequestRoutes({ budgets }),
    ...spendLimitRoutes({ budgets }),
    ...spendAlertRoutes({ budgets }),
    ...organizationInviteRoutes({ people, deliverLink }),
    ...userSignInRoutes({ people, deliverLink }),
  ]
}
