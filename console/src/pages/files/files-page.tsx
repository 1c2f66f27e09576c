import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { contentPath } from '../../api/batches.ts'
import { deleteFile, fileListQuery, type StoredFile } from '../../api/files.ts'
import { msOf } from '../../api/organization-pages.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { nextPages } from '../../ui/data/next-pages.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatBytes } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Time } from '../../ui/text/time.tsx'
import { UploadFileDialog } from './upload-file-dialog.tsx'

export function FilesPage() {
  const files = useInfiniteQuery(fileListQuery)
  const queryClient = useQueryClient()
  const [isUploading, setIsUploading] = useState(false)
  const [deleting, setDeleting] = useState<StoredFile | null>(null)
  const rows = useMemo(() => files.data?.pages.flatMap(({ data }) => data) ?? [], [files.data])
  const columns = useMemo(() => columnsWith(setDeleting), [])
  const upload = (
    <Button kind="primary" icon="plus" onClick={() => setIsUploading(true)}>
      Upload a file
    </Button>
  )
  return (
    <Page>
      <PageHeader
        title="Files"
        description="Files that requests and batches name by their ids, and the results of batches."
        actions={upload}
      />
      {files.isPending && <SkeletonRows />}
      {files.error && (
        <ErrorPanel
          title="Files could not be loaded"
          error={files.error}
          onRetry={() => void files.refetch()}
        />
      )}
      {rows.length > 0 && (
        <DataTable
          label="Files"
          tools={{ id: 'files' }}
          columns={columns}
          rows={rows}
          rowId={({ id }) => id}
          {...nextPages(files)}
        />
      )}
      {files.isSuccess && rows.length === 0 && (
        <EmptyState icon="task" title="No files yet" action={upload}>
          Upload one once, and name it in as many requests as you like.
        </EmptyState>
      )}
      {isUploading && <UploadFileDialog onClose={() => setIsUploading(false)} />}
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete ${deleting.filename}?`}
          description="Nobody can read it from then on. A batch that is still reading it does not ask the lines that it has not read."
          action="Delete the file"
          onConfirm={async () => {
            await deleteFile(deleting.id)
            await queryClient.invalidateQueries({ queryKey: ['files', 'list'] })
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </Page>
  )
}

const columnsWith = (onDelete: (file: StoredFile) => void): Column<StoredFile>[] => [
  {
    id: 'name',
    value: ({ filename }) => filename,
    header: 'Name',
    render: ({ id, filename }) => (
      <a href={contentPath(id)} download={filename} className="truncate hover:underline">
        {filename}
      </a>
    ),
  },
  {
    id: 'file',
    value: ({ id }) => id,
    header: 'File',
    isMinor: true,
    render: ({ id }) => <span className="font-mono text-xs">{id}</span>,
  },
  {
    id: 'purpose',
    value: ({ purpose }) => purpose,
    header: 'Purpose',
    width: '128px',
    render: ({ purpose }) => purpose,
  },
  {
    id: 'size',
    value: ({ bytes }) => bytes,
    header: 'Size',
    width: '96px',
    align: 'right',
    render: ({ bytes }) => formatBytes(bytes),
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
  {
    id: 'expires',
    value: ({ expires_at: seconds }) => (seconds === null ? null : new Date(seconds * 1000).toISOString()),
    header: 'Expires',
    width: '128px',
    align: 'right',
    isMinor: true,
    render: ({ expires_at: seconds }) => (seconds === null ? 'never' : <Time at={msOf(seconds)} />),
  },
  {
    id: 'delete',
    value: () => null,
    header: 'Delete',
    width: '80px',
    render: (file) => (
      <IconButton icon="trash" label={`Delete ${file.filename}`} onClick={() => onDelete(file)} />
    ),
  },
]
