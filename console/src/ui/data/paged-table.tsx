import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { EmptyState } from '../feedback/empty-state.tsx'
import { ErrorPanel } from '../feedback/error-panel.tsx'
import { SkeletonRows } from '../feedback/skeleton.tsx'
import { Button } from '../forms/button.tsx'
import { DataTable, type Column } from './data-table.tsx'
import { nextPages } from './next-pages.ts'
import type { TableTools } from './table/table-tools.ts'

interface PagedTableProps<Row> {
  /** What the rows are: "Keys". */
  readonly label: string
  readonly query: UseInfiniteQueryResult<InfiniteData<{ readonly data: readonly Row[] }>>
  readonly columns: readonly Column<Row>[]
  readonly rowId: (row: Row) => string
  readonly onOpen?: ((row: Row) => void) | undefined
  /** Shown if there are no rows. */
  readonly empty: ReactNode
  /** For filters that the API does not have. */
  readonly isShown?: ((row: Row) => boolean) | undefined
  readonly heightClass?: string | undefined
  /** Lets people sort, choose columns and save the rows. */
  readonly tools: TableTools
}

const all = (): boolean => true

/** A list that is paged by cursor, with everything around it: waiting, failing, empty, more. */
export function PagedTable<Row>(props: PagedTableProps<Row>) {
  const { label, query, columns, rowId, onOpen, empty, isShown = all, heightClass, tools } = props
  const pages = query.data?.pages
  const loaded = useMemo(() => pages?.flatMap(({ data }) => data) ?? [], [pages])
  const rows = useMemo(() => loaded.filter(isShown), [loaded, isShown])
  if (query.isPending) return <SkeletonRows />
  const failure = query.error && (
    <ErrorPanel
      title={query.data ? 'More could not be loaded' : `${label} could not be loaded`}
      error={query.error}
      onRetry={() => void (query.data ? query.fetchNextPage() : query.refetch())}
    />
  )
  if (query.data === undefined) return failure
  if (rows.length === 0 && query.hasNextPage)
    return (
      <EmptyState
        icon="search"
        title="Nothing found so far"
        action={
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Search further back
          </Button>
        }
      >
        The newest entries do not match. There are older ones.
      </EmptyState>
    )
  return (
    <>
      {rows.length === 0 ? (
        empty
      ) : (
        <DataTable
          label={label}
          columns={columns}
          rows={rows}
          rowId={rowId}
          onOpen={onOpen}
          {...nextPages(query)}
          loadedCount={loaded.length}
          heightClass={heightClass}
          tools={tools}
        />
      )}
      {failure}
    </>
  )
}
