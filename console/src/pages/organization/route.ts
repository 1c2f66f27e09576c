import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/shell-route.tsx'

export const ORGANIZATION_TABS = [
  { value: 'members', label: 'Members' },
  { value: 'groups', label: 'Groups' },
  { value: 'projects', label: 'Projects' },
] as const

export type OrganizationTab = (typeof ORGANIZATION_TABS)[number]['value']

interface OrganizationSearch {
  readonly tab?: OrganizationTab | undefined
  /** The id of the person, group or entry that is open. */
  readonly open?: string | undefined
}

export const organizationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/organization',
  validateSearch: ({ tab, open }: Record<string, unknown>): OrganizationSearch => ({
    tab: ORGANIZATION_TABS.find(({ value }) => value === tab)?.value,
    open: typeof open === 'string' && open !== '' ? open : undefined,
  }),
  component: lazyRouteComponent(() => import('./organization-page.tsx'), 'OrganizationPage'),
})
