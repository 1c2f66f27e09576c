import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { signInMethodsQuery } from '../../api/sessions.ts'
import { rootRoute } from '../../shell/root-route.tsx'

interface SignInSearch {
  /** Where to go afterwards: a path of the console. */
  readonly next?: string | undefined
  /** Why a sign-in at a directory failed. */
  readonly problem?: string | undefined
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: ({ next, problem }: Record<string, unknown>): SignInSearch => ({
    ...(typeof next === 'string' && { next }),
    ...(typeof problem === 'string' && { problem }),
  }),
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(signInMethodsQuery)
  },
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
})
