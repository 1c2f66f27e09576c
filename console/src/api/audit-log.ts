import { call, client } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type AuditLogEntry = RowOf<typeof auditLogQuery>

/** What the page offers as a filter. The log has entries of other types too. */
export const AUDIT_TYPES = [
  'api_key.created',
  'api_key.updated',
  'api_key.deleted',
  'budget.created',
  'budget.updated',
  'budget.deleted',
  'budget.raised',
  'budget_request.approved',
  'budget_request.refused',
  'credit.added',
  'group.created',
  'group.deleted',
  'group.user.added',
  'group.user.removed',
  'invite.sent',
  'invite.accepted',
  'invite.deleted',
  'login.succeeded',
  'model_permissions.updated',
  'project.created',
  'project.updated',
  'project.archived',
  'rate_limit.updated',
  'role.created',
  'role.updated',
  'role.deleted',
  'role.assignment.created',
  'role.assignment.deleted',
  'service_account.created',
  'service_account.deleted',
  'user.added',
  'user.updated',
  'user.deleted',
] as const

export type AuditType = (typeof AUDIT_TYPES)[number]

export interface AuditFilters {
  readonly type?: AuditType | undefined
  readonly email?: string | undefined
  readonly resource?: string | undefined
}

/** Who changed what in the account, newest first. */
export const auditLogQuery = (filters: AuditFilters) =>
  organizationPages(['audit-log', filters], (page, signal) =>
    call(() =>
      client.GET('/v1/organization/audit_logs', {
        params: {
          query: {
            ...page,
            ...(filters.type !== undefined && { event_types: [filters.type] }),
            ...(filters.email !== undefined && { actor_emails: [filters.email] }),
            ...(filters.resource !== undefined && { resource_ids: [filters.resource] }),
          },
        },
        signal,
      }),
    ),
  )
