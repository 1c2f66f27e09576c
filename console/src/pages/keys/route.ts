import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ownDeprecationsQuery } from '../../api/deprecations.ts'
import { keysQuery } from '../../api/keys.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export interface KeysSearch {
  /** A part of a name, or the beginning of a key. */
  readonly search?: string | undefined
  /** Shows revoked and expired keys too. */
  readonly all?: true | undefined
  /** The id of the key whose details are open. */
  readonly key?: string | undefined
}

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: ({ search, all, key }: Record<string, unknown>): KeysSearch => ({
    ...(typeof search === 'string' && { search }),
    ...(all === true && { all }),
    ...(typeof key === 'string' && { key }),
  }),
  loader: ({ context }) => {
    void context.queryClient.prefetchInfiniteQuery(keysQuery())
    void context.queryClient.prefetchQuery(ownDeprecationsQuery)
  },
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
})
