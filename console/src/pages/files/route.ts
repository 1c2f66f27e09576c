import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { fileListQuery } from '../../api/files.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readFilesSearch } from './files-search.ts'

export const filesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/files',
  validateSearch: readFilesSearch,
  loaderDeps: ({ search: { purpose } }) => ({ purpose }),
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(fileListQuery(deps.purpose))
  },
  component: lazyRouteComponent(() => import('./files-page.tsx'), 'FilesPage'),
})
