import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { auditQuery } from '../../api/operator.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

interface AuditSearch {
  /** The id of what was changed. */
  readonly target?: string | undefined
}

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: ({ target }: Record<string, unknown>): AuditSearch =>
    typeof target === 'string' && target !== '' ? { target } : {},
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(auditQuery(deps.target))
  },
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
})
