import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { auditQuery } from '../../api/operator.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

interface AuditSearch {
  /** The id of what was changed. */
  readonly target?: string | undefined
  /** The id of the entry that is open. */
  readonly entry?: string | undefined
}

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: ({ target, entry }: Record<string, unknown>): AuditSearch => ({
    target: typeof target === 'string' && target !== '' ? target : undefined,
    entry: typeof entry === 'string' && entry !== '' ? entry : undefined,
  }),
  loaderDeps: ({ search: { target } }) => ({ target }),
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(auditQuery(deps.target))
  },
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
})
