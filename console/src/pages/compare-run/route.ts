import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { runQuery } from '../../api/compare.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export interface CompareRunSearch {
  /** Another run of the same dataset. */
  readonly against?: string | undefined
  /** The answer that is open: prompt, repeat and lane. */
  readonly cell?: string | undefined
}

export const compareRunRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/compare/$id',
  validateSearch: ({ against, cell }: Record<string, unknown>): CompareRunSearch => ({
    against: typeof against === 'string' && against !== '' ? against : undefined,
    cell: typeof cell === 'string' && cell !== '' ? cell : undefined,
  }),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(runQuery(params.id))
  },
  component: lazyRouteComponent(() => import('./compare-run-page.tsx'), 'CompareRunPage'),
})
