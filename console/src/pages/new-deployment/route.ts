import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { gpuTiersQuery, templatesQuery } from '../../api/deployment-plans.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export interface NewDeploymentSearch {
  /** The id of a model on the hub. */
  readonly model?: string | undefined
  readonly tier?: string | undefined
}

export const newDeploymentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deployments/new',
  validateSearch: ({ model, tier }: Record<string, unknown>): NewDeploymentSearch => ({
    model: typeof model === 'string' && model !== '' ? model : undefined,
    tier: typeof tier === 'string' ? tier : undefined,
  }),
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(gpuTiersQuery)
    void context.queryClient.prefetchQuery(templatesQuery)
  },
  component: lazyRouteComponent(() => import('./new-deployment-page.tsx'), 'NewDeploymentPage'),
})
