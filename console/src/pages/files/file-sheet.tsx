import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { batchesOfFileQuery, contentPath } from '../../api/batches.ts'
import { fileQuery, type StoredFile } from '../../api/files.ts'
import { msOf } from '../../api/organization-pages.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatBytes } from '../../ui/format/format-count.ts'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { BatchStatus } from '../../ui/text/batch-status.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { FileLink } from '../../ui/text/file-link.tsx'
import { Time } from '../../ui/text/time.tsx'

interface FileSheetProps {
  readonly id: string
  readonly onClose: () => void
}

/** What a file is, and the batches that read or wrote it. */
export function FileSheet({ id, onClose }: FileSheetProps) {
  const { data: file, error, isPending, refetch } = useQuery(fileQuery(id))
  return (
    <Sheet title={file?.filename ?? 'File'} side="right" isOpen onClose={onClose}>
      {isPending && <SkeletonRows count={4} />}
      {error && !file && (
        <ErrorPanel title="The file could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {file && <Loaded file={file} />}
    </Sheet>
  )
}

function Loaded({ file }: { readonly file: StoredFile }) {
  return (
    <div className="flex flex-col gap-4 text-sm">
      <DetailsList
        details={{
          File: <CopyableId id={file.id} label="file id" />,
          Purpose: file.purpose,
          Size: formatBytes(file.bytes),
          Made: <Time at={msOf(file.created_at)} form="short" />,
          Expires: file.expires_at === null ? 'never' : <Time at={msOf(file.expires_at)} form="short" />,
          Content: (
            <FileLink href={contentPath(file.id)} label={`Download ${file.filename}`}>
              Download
            </FileLink>
          ),
        }}
      />
      <section aria-labelledby="batches-of-file" className="flex flex-col gap-2">
        <h3 id="batches-of-file" className="text-xs font-medium text-ink-soft">
          Batches
        </h3>
        <BatchesOfFile id={file.id} />
      </section>
    </div>
  )
}

function BatchesOfFile({ id }: { readonly id: string }) {
  const { data, error, isPending, refetch } = useQuery(batchesOfFileQuery(id))
  if (isPending) return <SkeletonRows count={1} />
  if (error)
    return <ErrorPanel title="Its batches could not be loaded" error={error} onRetry={() => void refetch()} />
  if (data.data.length === 0) return <p className="text-ink-faint">No batch reads it or wrote it.</p>
  return (
    <ul className="flex flex-col gap-2">
      {data.data.map((batch) => (
        <li key={batch.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Link
            to="/batches/$id"
            params={{ id: batch.id }}
            className="min-w-0 truncate font-mono text-xs text-accent underline"
          >
            {batch.id}
          </Link>
          <BatchStatus status={batch.status} />
          <span className="text-xs text-ink-soft">
            {batch.input_file_id === id ? 'reads it' : 'wrote it'}
          </span>
        </li>
      ))}
    </ul>
  )
}
