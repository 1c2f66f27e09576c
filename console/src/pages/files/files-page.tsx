import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
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
import { SelectField } from '../../ui/forms/select-field.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { Time } from '../../ui/text/time.tsx'
import { FileSheet } from './file-sheet.tsx'
import { PURPOSES } from './files-search.ts'
import { UploadFileDialog } from './upload-file-dialog.tsx'

const route = getRouteApi('/shell/files')

const PURPOSE_CHOICES = [
  { value: '', label: 'any' },
  ...PURPOSES.map((purpose) => ({ value: purpose, label: purpose })),
]

export function FilesPage() {
  const { purpose, file: openId } = route.useSearch()
  const navigate = route.useNavigate()
  const files = useInfiniteQuery(fileListQuery(purpose))
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, file: undefined }), replace: true }),
  )
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
      <SelectField
        label="Purpose"
        className="w-48 max-sm:w-full"
        value={purpose ?? ''}
        choices={PURPOSE_CHOICES}
        onChange={(value) =>
          void navigate({ search: { purpose: PURPOSES.find((one) => one === value) }, replace: true })
        }
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
      {files.isSuccess && rows.length === 0 && purpose !== undefined && (
        <EmptyState icon="task" title="No files for this purpose" />
      )}
      {files.isSuccess && rows.length === 0 && purpose === undefined && (
        <EmptyState icon="task" title="No files yet" action={upload}>
          Upload one once, and name it in as many requests as you like.
        </EmptyState>
      )}
      {openId !== undefined && <FileSheet id={openId} onClose={close} />}
      {isUploading && <UploadFileDialog onClose={() => setIsUploading(false)} />}
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete ${deleting.filename}?`}
          description="Nobody can read it from then on. A file that a running batch reads is not deleted."
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
      <Link
        to="/files"
        search={(old) => ({ ...old, file: id })}
        {...AS_DETAIL}
        className="truncate hover:underline"
      >
        {filename}
      </Link>
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
