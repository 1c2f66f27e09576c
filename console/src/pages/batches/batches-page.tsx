import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { batchListQuery, type Batch } from '../../api/batches.ts'
import { msOf } from '../../api/organization-pages.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { nextPages } from '../../ui/data/next-pages.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatNumber } from '../../ui/format/format-number.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Time } from '../../ui/text/time.tsx'
import { BatchStatus } from '../../ui/text/batch-status.tsx'
import { NewBatchDialog } from './new-batch-dialog.tsx'

export function BatchesPage() {
  const batches = useInfiniteQuery(batchListQuery)
  const navigate = useNavigate()
  const [isMaking, setIsMaking] = useState(false)
  const rows = useMemo(() => batches.data?.pages.flatMap(({ data }) => data) ?? [], [batches.data])
  const make = (
    <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
      New batch
    </Button>
  )
  return (
    <Page>
      <PageHeader
        title="Batches"
        description="Many requests in one file, asked in the background within 24 hours."
        actions={make}
      />
      {batches.isPending && <SkeletonRows />}
      {batches.error && (
        <ErrorPanel
          title="Batches could not be loaded"
          error={batches.error}
          onRetry={() => void batches.refetch()}
        />
      )}
      {rows.length > 0 && (
        <DataTable
          label="Batches"
          tools={{ id: 'batches' }}
          columns={COLUMNS}
          rows={rows}
          rowId={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/batches/$id', params: { id } })}
          {...nextPages(batches)}
        />
      )}
      {batches.isSuccess && rows.length === 0 && (
        <EmptyState icon="task" title="No batches yet" action={make}>
          Take a file with one request a line. It is checked first, and each answered line is charged once.
        </EmptyState>
      )}
      {isMaking && <NewBatchDialog onClose={() => setIsMaking(false)} />}
    </Page>
  )
}

const shareOf = ({ request_counts: counts }: Batch): string =>
  `${formatNumber(counts.completed + counts.failed)} of ${formatNumber(counts.total)}`

const COLUMNS: Column<Batch>[] = [
  {
    id: 'batch',
    value: ({ id }) => id,
    header: 'Batch',
    render: ({ id }) => (
      <Link to="/batches/$id" params={{ id }} className="font-mono text-xs hover:underline">
        {id}
      </Link>
    ),
  },
  {
    id: 'status',
    value: ({ status }) => status,
    header: 'State',
    width: '112px',
    render: ({ status }) => <BatchStatus status={status} />,
  },
  {
    id: 'model',
    value: ({ model, endpoint }) => model ?? endpoint,
    header: 'Asks',
    isMinor: true,
    render: ({ model, endpoint }) => model ?? endpoint,
  },
  {
    id: 'ended',
    value: ({ request_counts: counts }) => counts.total,
    header: 'Lines ended',
    width: '152px',
    align: 'right',
    render: shareOf,
  },
  {
    id: 'failed',
    value: ({ request_counts: counts }) => counts.failed,
    header: 'Failed',
    width: '88px',
    align: 'right',
    isMinor: true,
    render: ({ request_counts: counts }) => formatNumber(counts.failed),
  },
  {
    id: 'cost',
    value: ({ cost_usd: usd }) => usd,
    header: 'Cost',
    width: '96px',
    align: 'right',
    render: ({ cost_usd: usd }) => formatUsd(usd),
  },
  {
    id: 'made',
    value: ({ created_at: seconds }) => new Date(seconds * 1000).toISOString(),
    header: 'Made',
    width: '128px',
    align: 'right',
    isMinor: true,
    render: ({ created_at: seconds }) => <Time at={msOf(seconds)} />,
  },
]
