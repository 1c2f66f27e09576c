import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { fileListQuery } from '../../api/files.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const filesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/files',
  loader: ({ context }) => {
    void context.queryClient.prefetchInfiniteQuery(fileListQuery)
  },
  component: lazyRouteComponent(() => import('./files-page.tsx'), 'FilesPage'),
})
