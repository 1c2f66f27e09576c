import { useQuery } from '@tanstack/react-query'
import { batchResultsQuery, contentPath } from '../../api/batches.ts'
import type { ResultLine } from '../../api/result-line.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { FileLink } from '../../ui/text/file-link.tsx'
import { answerText } from './answer-text.ts'

interface LineResultsProps {
  /** Null if there are no answers, or not yet. */
  readonly fileId: string | null
  readonly hasEnded: boolean
}

/** The first answers as a table. */
export function LineResults({ fileId, hasEnded }: LineResultsProps) {
  if (fileId === null)
    return (
      <EmptyState icon="task" title={hasEnded ? 'No line has an answer' : 'The answers come at the end'} />
    )
  return <Answers fileId={fileId} />
}

function Answers({ fileId }: { readonly fileId: string }) {
  const results = useQuery(batchResultsQuery(fileId))
  if (results.error)
    return (
      <ErrorPanel
        title="The answers could not be loaded"
        error={results.error}
        onRetry={() => void results.refetch()}
      />
    )
  if (results.data === undefined) return <SkeletonRows />
  return (
    <>
      <DataTable
        label="Answers"
        tools={{ id: 'answers', part: results.data.isCut ? 'the first lines' : undefined }}
        columns={COLUMNS}
        rows={results.data.lines}
        rowId={({ custom_id: id }) => id}
      />
      {results.data.isCut && (
        <p className="text-sm text-ink-soft">
          These are the first lines.{' '}
          <FileLink href={contentPath(fileId)} label="Download all answers">
            Download all answers
          </FileLink>
        </p>
      )}
    </>
  )
}

const COLUMNS: Column<ResultLine>[] = [
  {
    id: 'line',
    value: ({ custom_id: id }) => id,
    header: 'Line',
    width: '200px',
    render: ({ custom_id: id }) => <span className="font-mono text-xs">{id}</span>,
  },
  {
    id: 'answer',
    value: shownOf,
    header: 'Answer',
    render: (line) => <span title={shownOf(line)}>{shownOf(line)}</span>,
  },
]

function shownOf({ response, error }: ResultLine): string {
  return error?.message ?? answerText(response?.body)
}
