import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { passkeysQuery } from '../../api/passkeys.ts'
import { currentSessionQuery, ownSessionsQuery } from '../../api/sessions.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const profileRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/profile',
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(currentSessionQuery(''))
    void context.queryClient.prefetchQuery(ownSessionsQuery)
    void context.queryClient.prefetchQuery(passkeysQuery)
  },
  component: lazyRouteComponent(() => import('./profile-page.tsx'), 'ProfilePage'),
})
