import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { modelsQuery } from '../../api/models.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readPlaygroundSearch } from './playground-search.ts'

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: readPlaygroundSearch,
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(modelsQuery)
  },
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
})
