import { CSPProvider } from '@base-ui/react/csp-provider'
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { Toasts } from '../ui/overlays/toasts.tsx'
import { NotFoundPage } from './not-found-page.tsx'

export interface RouterContext {
  readonly queryClient: QueryClient
}

/** Surrounds every page. The policy of the page forbids style elements, so no component may insert one. */
export const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: () => (
    <CSPProvider disableStyleElements>
      <Outlet />
      <Toasts />
    </CSPProvider>
  ),
  notFoundComponent: NotFoundPage,
})
