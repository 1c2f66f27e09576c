import { call, client } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type AuditLogEntry = RowOf<typeof auditLogQuery>

/** What the page offers as a filter. The log has entries of other types too. */
export const AUDIT_TYPES = [
  'api_key.created',
  'api_key.updated',
  'api_key.deleted',
  'body_storage.updated',
  'budget.created',
  'budget.updated',
  'budget.deleted',
  'budget.raised',
  'budget_request.approved',
  'budget_request.refused',
  'credit.added',
  'credit.removed',
  'data_retention.updated',
  'group.created',
  'group.updated',
  'group.deleted',
  'group.user.added',
  'group.user.removed',
  'invite.sent',
  'invite.accepted',
  'invite.deleted',
  'limits.updated',
  'login.failed',
  'login.succeeded',
  'logout.succeeded',
  'managed_settings.updated',
  'managed_settings.deleted',
  'model_permissions.updated',
  'organization.updated',
  'project.created',
  'project.updated',
  'project.archived',
  'rate_limit.updated',
  'role.created',
  'role.updated',
  'role.deleted',
  'role.assignment.created',
  'role.assignment.deleted',
  'scim_token.created',
  'scim_token.deleted',
  'service_account.created',
  'service_account.deleted',
  'token.exchanged',
  'trusted_issuer.created',
  'trusted_issuer.updated',
  'trusted_issuer.deleted',
  'user.added',
  'user.updated',
  'user.deleted',
] as const

export type AuditType = (typeof AUDIT_TYPES)[number]

export interface AuditFilters {
  readonly type?: AuditType | undefined
  readonly email?: string | undefined
  readonly resource?: string | undefined
  readonly since?: AuditPeriod | undefined
}

/** How far back the log is read, in days. */
const AUDIT_PERIODS = { '24h': 1, '7d': 7, '30d': 30, '365d': 365 } as const
export type AuditPeriod = keyof typeof AUDIT_PERIODS

/** Who changed what in the account, newest first. */
export const auditLogQuery = (filters: AuditFilters) =>
  organizationPages(['audit-log', filters], (page, signal) => fetchEntries(filters, page, signal))

interface PageOfEntries {
  readonly after?: string
  readonly limit: number
}

function fetchEntries(
  { type, email, resource, since }: AuditFilters,
  page: PageOfEntries,
  signal: AbortSignal,
) {
  const query = {
    ...page,
    ...(type !== undefined && { event_types: [type] }),
    ...(email !== undefined && { actor_emails: [email] }),
    ...(resource !== undefined && { resource_ids: [resource] }),
    ...(since !== undefined && {
      'effective_at[gte]': Math.floor(Date.now() / 1000) - AUDIT_PERIODS[since] * DAY_SECONDS,
    }),
  }
  return call(() => client.GET('/v1/organization/audit_logs', { params: { query }, signal }))
}

const DAY_SECONDS = 86_400
