import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { runQuery } from '../../api/compare.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export interface CompareRunSearch {
  /** Another run of the same dataset. */
  readonly against?: string | undefined
}

export const compareRunRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/compare/$id',
  validateSearch: ({ against }: Record<string, unknown>): CompareRunSearch => ({
    against: typeof against === 'string' && against !== '' ? against : undefined,
  }),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(runQuery(params.id))
  },
  component: lazyRouteComponent(() => import('./compare-run-page.tsx'), 'CompareRunPage'),
})
