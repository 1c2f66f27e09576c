import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import {
  adminRequestsFileUrl,
  adminRequestsQuery,
  type AdminRequest,
  type AdminRequestFilters,
} from '../../api/admin-requests.ts'
import { refreshPages } from '../../api/cursor-pages.ts'
import { useLiveRequests } from '../../api/live-requests.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import type { TableTools } from '../../ui/data/table/table-tools.ts'
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
        {view === 'tail' && <RequestTail key={JSON.stringify(filters)} filters={filters} onOpen={open} />}
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

/** Newest first: there may be millions, which nobody sorts by loading them. */
const TOOLS: TableTools = {
  id: 'requests',
  order: { columns: [], sort: null, onChange: () => undefined },
}

function RequestList({ filters, onOpen }: ListProps) {
  const queryClient = useQueryClient()
  const requests = useInfiniteQuery(adminRequestsQuery(filters))
  const columns = useMemo(() => requestColumns(onOpen), [onOpen])
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
        columns={columns}
        rowId={rowId}
        onOpen={onOpen}
        empty={NONE}
        tools={{ ...TOOLS, fileUrl: adminRequestsFileUrl(filters) }}
      />
    </div>
  )
}

function RequestTail({ filters, onOpen }: ListProps) {
  const { requests, isCut, failure } = useLiveRequests(filters)
  const columns = useMemo(() => requestColumns(onOpen), [onOpen])
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-ink-soft">
        {isCut
          ? 'More requests end than are shown here. Narrow them with filters, or see all in the list.'
          : 'Each request appears a second after its end.'}
      </p>
      {failure && <ErrorPanel title="The requests are not live" error={failure} />}
      {requests === null && !failure && <SkeletonRows />}
      {requests?.length === 0 && NONE}
      {requests !== null && requests.length > 0 && (
        <DataTable
          label="Live requests"
          tools={{ id: 'live', part: isCut ? 'those that are shown' : undefined }}
          columns={columns}
          rows={requests}
          rowId={rowId}
          onOpen={onOpen}
        />
      )}
    </div>
  )
}
