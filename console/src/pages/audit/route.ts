import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { auditQuery } from '../../api/operator-audit.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { filtersOf, readAuditSearch } from './audit-search.ts'

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: readAuditSearch,
  loaderDeps: ({ search }) => filtersOf(search),
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(auditQuery(deps))
  },
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
})
