import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { taskListQuery } from '../../api/tasks.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readTasksSearch } from './tasks-search.ts'

export const tasksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tasks',
  validateSearch: readTasksSearch,
  loaderDeps: ({ search: { status, type, model } }) => ({ status, task_type: type, model }),
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(taskListQuery(deps))
  },
  component: lazyRouteComponent(() => import('./tasks-page.tsx'), 'TasksPage'),
})
