import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { modelQuery } from '../../api/models.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const modelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/$modelId',
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(modelQuery(params.modelId))
  },
  component: lazyRouteComponent(() => import('./model-page.tsx'), 'ModelPage'),
})
