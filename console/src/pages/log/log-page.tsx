import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { refreshPages } from '../../api/cursor-pages.ts'
import { useMay, useReach } from '../../api/permissions.ts'
import { requestsFileUrl, requestsQuery, type LoggedRequest } from '../../api/requests.ts'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCount, formatCountOf } from '../../ui/format/format-count.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { logColumns } from './log-columns.tsx'
import { LogDataset } from './log-dataset.tsx'
import { LogFilters } from './log-filters.tsx'
import type { LogSearch } from './log-search.ts'
import { RequestSheet } from './request-sheet.tsx'

const route = getRouteApi('/shell/log')

export function LogPage() {
  const { request: openedId, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const mayMakeKeys = useMay('keys.own')
  const reach = useReach('log.read')
  const requests = useInfiniteQuery(requestsQuery(filters))
  const setSearch = (search: LogSearch): void => void navigate({ search, replace: true })
  const open = ({ request_id: request }: LoggedRequest): void =>
    void navigate({ search: { ...filters, request }, ...AS_DETAIL })
  const close = useCloseDetail(() => setSearch(filters))
  const shown = requests.data?.pages.reduce((sum, { data }) => sum + data.length, 0)
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page isWide>
      <PageHeader
        title="Log"
        description={`Every request of this ${reach}, newest first, with its attempts, timings, tokens and cost.`}
        actions={
          <>
            <LogDataset filters={filters} />
            <Button
              icon="retry"
              isBusy={requests.isRefetching}
              onClick={() => void refreshPages(queryClient, requestsQuery(filters).queryKey)}
            >
              Refresh
            </Button>
          </>
        }
      />
      <LogFilters
        filters={filters}
        onChange={setSearch}
        count={
          shown === undefined
            ? undefined
            : requests.hasNextPage
              ? `${formatCount(shown)}+ requests`
              : formatCountOf(shown, 'request')
        }
      />
      <PagedTable
        label="Requests"
        tools={{ id: 'requests', fileUrl: requestsFileUrl(filters) }}
        query={requests}
        columns={logColumns(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          <EmptyState
            icon="log"
            title={isFiltered ? 'No request matches' : 'No request yet'}
            action={
              isFiltered ? (
                <Button onClick={() => setSearch({})}>Clear the filters</Button>
              ) : (
                <Link to="/keys" className={buttonClass('primary')}>
                  {mayMakeKeys === false ? 'See the keys' : 'Make a key'}
                </Link>
              )
            }
          >
            {isFiltered
              ? 'Change or clear the filters.'
              : 'Requests appear here as soon as they are answered. A program needs a key to send them.'}
          </EmptyState>
        }
      />
      {openedId !== undefined && <RequestSheet id={openedId} onClose={close} />}
    </Page>
  )
}
