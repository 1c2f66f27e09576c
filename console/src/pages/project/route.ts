import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectQuery } from '../../api/projects.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const projectRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/organization/projects/$id',
  loader: ({ context, params: { id } }) => {
    void context.queryClient.prefetchQuery(projectQuery(id))
  },
  component: lazyRouteComponent(() => import('./project-page.tsx'), 'ProjectPage'),
})
