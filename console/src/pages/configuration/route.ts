import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/shell-route.tsx'

export const configurationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/configuration',
  loader: ({ context }) => {
    // Imported here, because what only operators need is not in the first script.
    void import('../../api/configuration.ts').then(({ exportedConfigQuery }) =>
      context.queryClient.prefetchQuery(exportedConfigQuery),
    )
  },
  component: lazyRouteComponent(() => import('./configuration-page.tsx'), 'ConfigurationPage'),
})
