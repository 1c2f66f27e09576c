import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { taskListQuery, type Task } from '../../api/tasks.ts'
import { nextPages } from '../../ui/data/next-pages.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { GallerySkeleton, TaskGallery } from './task-gallery.tsx'
import { NoTasks } from './no-tasks.tsx'
import { TaskSheet } from './task-sheet.tsx'
import { TaskTable } from './task-table.tsx'
import { TasksFilters } from './tasks-filters.tsx'
import type { TasksSearch } from './tasks-search.ts'

const route = getRouteApi('/shell/tasks')

export function TasksPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { view, status, type, model, task: openId } = search
  const tasks = useInfiniteQuery(taskListQuery({ status, task_type: type, model }))
  const change = useCallback(
    (changed: Partial<TasksSearch>) =>
      void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
    [navigate],
  )
  const open = useCallback(
    ({ id }: Task) => void navigate({ search: (old) => ({ ...old, task: id }), ...AS_DETAIL }),
    [navigate],
  )
  const close = useCloseDetail(useCallback(() => change({ task: undefined }), [change]))
  // Another task takes the place of the open one, so that Back closes it too.
  const openInstead = (id: string): void =>
    void navigate({ search: (old) => ({ ...old, task: id }), state: (old) => old, replace: true })
  const rows = tasks.data?.pages.flatMap(({ data }) => data) ?? []
  const isFiltered = status !== undefined || type !== undefined || model !== undefined
  const list = { tasks: rows, onOpen: open, ...nextPages(tasks) }
  return (
    <Page>
      <PageHeader
        title="Tasks"
        description="Pictures, videos, music and other long work of this account, newest first."
      />
      {(rows.length > 0 || isFiltered) && (
        <TasksFilters search={search} onChange={change} total={tasks.data?.pages[0]?.total} />
      )}
      {tasks.isPending && <GallerySkeleton />}
      {tasks.error && (
        <ErrorPanel
          title="Tasks could not be loaded"
          error={tasks.error}
          onRetry={() => void tasks.refetch()}
        />
      )}
      {rows.length > 0 && (view === 'list' ? <TaskTable {...list} /> : <TaskGallery {...list} />)}
      {tasks.isSuccess &&
        rows.length === 0 &&
        (isFiltered ? <NothingFound onClear={() => change(NO_FILTER)} /> : <NoTasks />)}
      {openId !== undefined && (
        <TaskSheet
          key={openId}
          id={openId}
          known={rows.find(({ id }) => id === openId)}
          onClose={close}
          onOpen={openInstead}
        />
      )}
    </Page>
  )
}

const NO_FILTER = { status: undefined, type: undefined, model: undefined }

function NothingFound({ onClear }: { readonly onClear: () => void }) {
  return (
    <EmptyState
      icon="search"
      title="No task fits these filters"
      action={<Button onClick={onClear}>Clear the filters</Button>}
    />
  )
}
