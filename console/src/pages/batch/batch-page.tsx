import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { batchQuery, hasEnded, type Batch } from '../../api/batches.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { BatchActions } from './batch-actions.tsx'
import { BatchDetails } from './batch-details.tsx'
import { BatchProgress } from './batch-progress.tsx'
import { TABS } from './batch-search.ts'
import { BatchStatus } from '../../ui/text/batch-status.tsx'
import { FileMistakes, LineErrors } from './line-errors.tsx'
import { LineResults } from './line-results.tsx'

const route = getRouteApi('/shell/batches/$id')

export function BatchPage() {
  const { id } = route.useParams()
  const { data: batch, error, isPending, refetch } = useQuery(batchQuery(id))
  return (
    <Page>
      {isPending && <SkeletonRows />}
      {error && !batch && (
        <>
          <PageHeader title="Batch" />
          <ErrorPanel title="The batch could not be loaded" error={error} onRetry={() => void refetch()} />
        </>
      )}
      {batch && <Loaded batch={batch} />}
    </Page>
  )
}

function Loaded({ batch }: { readonly batch: Batch }) {
  const { tab = batch.output_file_id === null && batch.errors !== null ? 'errors' : 'results' } =
    route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHeader
        title="Batch"
        description={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <BatchStatus status={batch.status} />
            <span>{batch.model ?? 'several models'}</span>
            <span className="font-mono text-xs">{batch.id}</span>
          </span>
        }
        actions={<BatchActions batch={batch} />}
      />
      <BatchProgress batch={batch} />
      <Tabs
        label="Parts of the batch"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: { tab: chosen }, replace: true })}
      >
        {tab === 'results' && <LineResults fileId={batch.output_file_id} hasEnded={hasEnded(batch)} />}
        {tab === 'errors' && batch.errors !== null && <FileMistakes mistakes={batch.errors.data} />}
        {tab === 'errors' && <LineErrors fileId={batch.error_file_id} hasEnded={hasEnded(batch)} />}
        {tab === 'details' && <BatchDetails batch={batch} />}
      </Tabs>
    </>
  )
}
