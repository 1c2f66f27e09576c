import { Link } from '@tanstack/react-router'
import { contentPath, type Batch } from '../../api/batches.ts'
import { msOf } from '../../api/organization-pages.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { FileLink } from '../../ui/text/file-link.tsx'
import { Time } from '../../ui/text/time.tsx'

export function BatchDetails({ batch }: { readonly batch: Batch }) {
  const time = (seconds: number | null) =>
    seconds === null ? null : <Time at={msOf(seconds)} form="short" />
  const file = (id: string | null, label: string) =>
    id === null ? null : (
      <span className="flex min-w-0 flex-wrap items-center gap-x-3">
        <Link to="/files" search={{ file: id }} className="break-all text-accent underline">
          {id}
        </Link>
        <FileLink href={contentPath(id)} label={label}>
          Download
        </FileLink>
      </span>
    )
  const runId = batch.metadata?.['compare_run_id']
  return (
    <Section>
      <DetailsList
        details={{
          Batch: <CopyableId id={batch.id} label="batch id" />,
          Endpoint: batch.endpoint,
          Model: batch.model,
          Requests: file(batch.input_file_id, 'Download the requests'),
          Answers: file(batch.output_file_id, 'Download the answers'),
          Errors: file(batch.error_file_id, 'Download the errors'),
          'Estimated before': formatUsd(batch.estimated_cost_usd),
          Made: time(batch.created_at),
          Began: time(batch.in_progress_at),
          Completed: time(batch.completed_at),
          Failed: time(batch.failed_at),
          Cancelled: time(batch.cancelled_at ?? batch.cancelling_at),
          Expires: time(batch.expires_at),
          Comparison:
            runId === undefined ? null : (
              <Link to="/compare/$id" params={{ id: runId }} className="break-all text-accent underline">
                {runId}
              </Link>
            ),
          Metadata: batch.metadata === null ? null : JSON.stringify(batch.metadata),
        }}
      />
    </Section>
  )
}
