import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  adminRequestsQuery,
  requestTailQuery,
  type AdminRequest,
  type AdminRequestFilters,
} from '../../api/admin-requests.ts'
import { refreshPages } from '../../api/cursor-pages.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { AdminRequestSheet } from './admin-request-sheet.tsx'
import { ErrorGroups } from './error-groups.tsx'
import { requestColumns } from './request-columns.tsx'
import { RequestFilterBar } from './request-filters.tsx'
import { filtersOf, type RequestsSearch, type RequestView } from './requests-search.ts'

const route = getRouteApi('/shell/requests')

const VIEWS: readonly { readonly value: RequestView; readonly label: string }[] = [
  { value: 'list', label: 'Requests' },
  { value: 'errors', label: 'Errors' },
  { value: 'tail', label: 'Live' },
]

/** The requests of all accounts: who failed, and why. */
export function RequestsPage() {
  const search = route.useSearch()
  const { request: openedId, view = 'list' } = search
  const filters = filtersOf(search)
  const navigate = route.useNavigate()
  const setSearch = (next: RequestsSearch): void => void navigate({ search: next, replace: true })
  const withView = (chosen: RequestView) => (chosen === 'list' ? {} : { view: chosen })
  const open = ({ request_id: request }: AdminRequest): void =>
    void navigate({ search: { ...search, request }, ...AS_DETAIL })
  const close = useCloseDetail(() => setSearch({ ...filters, ...withView(view) }))
  return (
    <Page isWide>
      <PageHeader
        title="Requests"
        description="The requests of all accounts, newest first, with what the client and the provider were told."
      />
      <RequestFilterBar filters={filters} onChange={(next) => setSearch({ ...next, ...withView(view) })} />
      <Tabs
        label="What is listed"
        value={view}
        tabs={VIEWS}
        onChange={(chosen) => setSearch({ ...filters, ...withView(chosen) })}
      >
        {view === 'list' && <RequestList filters={filters} onOpen={open} />}
        {view === 'errors' && (
          <ErrorGroups
            filters={filters}
            onOpen={({ error_key: errorKey, provider }) =>
              void navigate({ search: { ...filters, error_key: errorKey, ...(provider && { provider }) } })
            }
          />
        )}
        {view === 'tail' && <RequestTail filters={filters} onOpen={open} />}
      </Tabs>
      {openedId !== undefined && <AdminRequestSheet id={openedId} onClose={close} />}
    </Page>
  )
}

interface ListProps {
  readonly filters: AdminRequestFilters
  readonly onOpen: (request: AdminRequest) => void
}

const rowId = ({ id }: AdminRequest): string => id

const NONE = <EmptyState icon="log" title="No request matches" />

function RequestList({ filters, onOpen }: ListProps) {
  const queryClient = useQueryClient()
  const requests = useInfiniteQuery(adminRequestsQuery(filters))
  return (
    <div className="flex flex-col gap-3">
      <div className="flex justify-end">
        <Button
          icon="retry"
          isBusy={requests.isRefetching}
          onClick={() => void refreshPages(queryClient, adminRequestsQuery(filters).queryKey)}
        >
          Refresh
        </Button>
      </div>
      <PagedTable
        label="Requests"
        query={requests}
        columns={requestColumns(onOpen)}
        rowId={rowId}
        onOpen={onOpen}
        empty={NONE}
      />
    </div>
  )
}

function RequestTail({ filters, onOpen }: ListProps) {
  const requests = useQuery(requestTailQuery(filters))
  if (requests.isPending) return <SkeletonRows />
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-ink-soft">The newest 100, read again every two seconds.</p>
      {requests.error && <ErrorPanel title="The requests are not live" error={requests.error} />}
      {requests.data?.data.length === 0 && NONE}
      {requests.data && requests.data.data.length > 0 && (
        <DataTable
          label="Live requests"
          columns={requestColumns(onOpen)}
          rows={requests.data.data}
          rowId={rowId}
          onOpen={onOpen}
        />
      )}
    </div>
  )
}
