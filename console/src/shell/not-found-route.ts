import { createRoute } from '@tanstack/react-router'
import { NotFoundPage } from './not-found-page.tsx'
import { shellRoute } from './shell-route.tsx'

/** Every address without a page, so that the navigation is around what is said about it. */
export const notFoundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '$',
  component: NotFoundPage,
})
