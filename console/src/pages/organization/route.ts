import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { AUDIT_TYPES, type AuditPeriod, type AuditType } from '../../api/audit-log.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const ORGANIZATION_TABS = [
  { value: 'members', label: 'Members' },
  { value: 'groups', label: 'Groups' },
  { value: 'roles', label: 'Roles' },
  { value: 'projects', label: 'Projects' },
  { value: 'budgets', label: 'Budgets' },
  { value: 'requests', label: 'Requests for more' },
  { value: 'directory', label: 'Directory sync' },
  { value: 'agents', label: 'Agent settings' },
  { value: 'audit', label: 'Audit' },
] as const

export type OrganizationTab = (typeof ORGANIZATION_TABS)[number]['value']

interface OrganizationSearch {
  readonly tab?: OrganizationTab | undefined
  /** The id of the person, group or entry that is open. */
  readonly open?: string | undefined
  /** Of the audit log. */
  readonly type?: AuditType | undefined
  readonly email?: string | undefined
  readonly resource?: string | undefined
  readonly since?: AuditPeriod | undefined
}

export const organizationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/organization',
  validateSearch: ({
    tab,
    open,
    type,
    email,
    resource,
    since,
  }: Record<string, unknown>): OrganizationSearch => ({
    tab: ORGANIZATION_TABS.find(({ value }) => value === tab)?.value,
    open: textOf(open),
    type: AUDIT_TYPES.find((known) => known === type),
    email: textOf(email),
    resource: textOf(resource),
    since: PERIODS.find((known) => known === since),
  }),
  component: lazyRouteComponent(() => import('./organization-page.tsx'), 'OrganizationPage'),
})

const PERIODS: readonly AuditPeriod[] = ['24h', '7d', '30d', '365d']

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
