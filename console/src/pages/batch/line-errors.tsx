import { useQuery } from '@tanstack/react-query'
import { batchResultsQuery, contentPath, type Batch } from '../../api/batches.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatNumber } from '../../ui/format/format-number.ts'
import { FileLink } from '../../ui/text/file-link.tsx'
import { groupErrors, type ErrorKind } from './group-errors.ts'

type Mistake = NonNullable<Batch['errors']>['data'][number]

interface LineErrorsProps {
  /** Null if no line failed, or not yet. */
  readonly fileId: string | null
  readonly hasEnded: boolean
}

/** Lines without an answer, grouped by why. */
export function LineErrors({ fileId, hasEnded }: LineErrorsProps) {
  if (fileId === null)
    return hasEnded ? null : <EmptyState icon="task" title="Errors of lines come at the end" />
  return <Kinds fileId={fileId} />
}

function Kinds({ fileId }: { readonly fileId: string }) {
  const results = useQuery(batchResultsQuery(fileId))
  if (results.error)
    return (
      <ErrorPanel
        title="The errors could not be loaded"
        error={results.error}
        onRetry={() => void results.refetch()}
      />
    )
  if (results.data === undefined) return <SkeletonRows />
  return (
    <>
      <DataTable
        label="Errors by kind"
        tools={{ id: 'errors', part: results.data.isCut ? 'those of the first lines' : undefined }}
        columns={KINDS}
        rows={groupErrors(results.data.lines)}
        rowId={({ code }) => code}
      />
      <p className="text-sm text-ink-soft">
        {results.data.isCut && 'These are the first lines. '}
        <FileLink href={contentPath(fileId)} label="Download all errors">
          Download all errors
        </FileLink>
      </p>
    </>
  )
}

/** Why a batch failed before anything was asked. */
export function FileMistakes({ mistakes }: { readonly mistakes: readonly Mistake[] }) {
  return (
    <DataTable
      label="Mistakes in the file"
      tools={{ id: 'mistakes' }}
      columns={MISTAKES}
      rows={mistakes}
      rowId={({ line, code, param }) => `${line} ${code} ${param}`}
    />
  )
}

const KINDS: Column<ErrorKind>[] = [
  { id: 'code', header: 'Kind', value: ({ code }) => code, width: '200px', render: ({ code }) => code },
  {
    id: 'count',
    header: 'Lines',
    value: ({ count }) => count,
    width: '80px',
    align: 'right',
    render: ({ count }) => formatNumber(count),
  },
  {
    id: 'message',
    header: 'What happened',
    value: ({ message }) => message,
    render: ({ message }) => <span title={message}>{message}</span>,
  },
  {
    id: 'lines',
    header: 'Such as',
    value: ({ lines }) => lines.join(' '),
    isMinor: true,
    render: ({ lines }) => <span className="font-mono text-xs">{lines.join(', ')}</span>,
  },
]

const MISTAKES: Column<Mistake>[] = [
  {
    id: 'line',
    header: 'Line',
    width: '80px',
    align: 'right',
    value: ({ line }) => line,
    render: ({ line }) => (line === null ? 'file' : formatNumber(line)),
  },
  {
    id: 'code',
    header: 'Kind',
    value: ({ code }) => code,
    width: '200px',
    render: ({ code }) => code,
  },
  {
    id: 'message',
    header: 'Mistake',
    value: ({ message }) => message,
    render: ({ message }) => <span title={message}>{message}</span>,
  },
]
