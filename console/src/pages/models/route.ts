import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ownDeprecationsQuery } from '../../api/deprecations.ts'
import { modelsQuery } from '../../api/models.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import type { ModelsSearch } from './models-search.ts'

const TEXTS = ['text', 'kind', 'vendor', 'capability'] as const

export const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  validateSearch: (search: Record<string, unknown>): ModelsSearch => ({
    ...Object.fromEntries(
      TEXTS.flatMap((name) =>
        typeof search[name] === 'string' && search[name] !== '' ? [[name, search[name]]] : [],
      ),
    ),
    ...(search['ready'] === true && { ready: true }),
  }),
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(modelsQuery)
    void context.queryClient.prefetchQuery(ownDeprecationsQuery)
  },
  component: lazyRouteComponent(() => import('./models-page.tsx'), 'ModelsPage'),
})
