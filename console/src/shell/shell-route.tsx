import { createRoute } from '@tanstack/react-router'
import { accountQuery } from '../api/account.ts'
import { FailedPage } from './failed-page.tsx'
import { rootRoute } from './root-route.tsx'
import { Shell } from './shell.tsx'

/** The parent route of every page that needs a session. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  // Not awaited: pages load at the same time. Without a session, any of the answers leads to the sign-in page.
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(accountQuery)
  },
  component: Shell,
  errorComponent: FailedPage,
})
