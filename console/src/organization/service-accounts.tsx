import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { msOf } from '../api/organization-pages.ts'
import { usePermissions } from '../api/permissions.ts'
import {
  createServiceAccount,
  createServiceAccountKey,
  deleteServiceAccount,
  serviceAccountsQuery,
  type ServiceAccount,
} from '../api/projects.ts'
import { KeyShownOnce } from '../keys/key-shown-once.tsx'
import type { Column } from '../ui/data/data-table.tsx'
import { timeOfSeconds } from '../ui/data/table/column.ts'
import { PagedTable } from '../ui/data/paged-table.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Button } from '../ui/forms/button.tsx'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import { Badge } from '../ui/text/badge.tsx'
import { CopyableId } from '../ui/text/copyable-id.tsx'
import { Time } from '../ui/text/time.tsx'
import type { ProjectPartProps } from './project-part.ts'

/** The programs of a project that have keys of their own. */
export function ServiceAccounts({ id, isActive: isOpen }: ProjectPartProps) {
  const may = usePermissions()
  const isActive = isOpen && may('keys.manage')
  const queryClient = useQueryClient()
  const accounts = useInfiniteQuery(serviceAccountsQuery(id))
  /** `new`, or the service account that gets a further key. */
  const [making, setMaking] = useState<'new' | ServiceAccount | null>(null)
  const [deleted, setDeleted] = useState<ServiceAccount | null>(null)
  const refresh = async () => {
    await queryClient.invalidateQueries({ queryKey: ['projects', id, 'service-accounts'] })
    await queryClient.invalidateQueries({ queryKey: ['projects', id, 'keys'] })
  }
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          A service account is a program, such as a pipeline. Its keys stay when people leave.
        </p>
        {isActive && (
          <Button kind="primary" icon="plus" onClick={() => setMaking('new')}>
            New service account
          </Button>
        )}
      </div>
      <PagedTable
        label="Service accounts"
        tools={{ id: 'service_accounts' }}
        query={accounts}
        columns={columnsOf(isActive, setMaking, setDeleted)}
        rowId={(account) => account.id}
        empty={
          <EmptyState icon="plug" title="No service account yet">
            Make one for each program that runs by itself.
          </EmptyState>
        }
      />
      {making !== null && <KeyDialog id={id} of={making} onMade={refresh} onClose={() => setMaking(null)} />}
      {deleted && (
        <ConfirmDialog
          title={`Delete ${deleted.name}?`}
          description="All of its keys end at once, and streams in progress too."
          action="Delete"
          onConfirm={async () => {
            await deleteServiceAccount(id, deleted.id)
            await refresh()
          }}
          onClose={() => setDeleted(null)}
        />
      )}
    </div>
  )
}

interface KeyDialogProps {
  readonly id: string
  readonly of: 'new' | ServiceAccount
  readonly onMade: () => Promise<unknown>
  readonly onClose: () => void
}

function KeyDialog({ id, of, onMade, onClose }: KeyDialogProps) {
  const [name, setName] = useState('')
  const making = useMutation({
    mutationFn: async () => {
      if (of !== 'new') return createServiceAccountKey(id, of.id, name.trim())
      const { api_key: key } = await createServiceAccount(id, name.trim())
      return key
    },
    onSuccess: onMade,
  })
  if (making.data) {
    const { name: made, value } = making.data
    return <KeyShownOnce created={{ name: made, key: value }} onClose={onClose} />
  }
  return (
    <FormDialog
      title={of === 'new' ? 'New service account' : `Another key for ${of.name}`}
      action={of === 'new' ? 'Make it and its key' : 'Make the key'}
      work={making}
      failure="The key could not be made"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <TextField
        label={of === 'new' ? 'Name' : 'Name of the key'}
        required
        autoFocus
        maxLength={200}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}

function columnsOf(
  isActive: boolean,
  onKey: (account: ServiceAccount) => void,
  onDelete: (account: ServiceAccount) => void,
): Column<ServiceAccount>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      value: ({ name }) => name,
      render: ({ name }) => <span className="font-medium">{name}</span>,
    },
    {
      id: 'id',
      header: 'Id',
      value: ({ id }) => id,
      width: '176px',
      isMinor: true,
      render: ({ id }) => <CopyableId id={id} label="id of the service account" isShort />,
    },
    {
      id: 'role',
      header: 'Role',
      value: ({ role }) => role,
      width: '96px',
      render: ({ role }) => <Badge>{role}</Badge>,
    },
    {
      id: 'created',
      header: 'Made',
      value: ({ created_at: at }) => timeOfSeconds(at),
      width: '128px',
      isMinor: true,
      render: ({ created_at: at }) => <Time at={msOf(at)} />,
    },
    {
      id: 'actions',
      isAction: true,
      width: '96px',
      align: 'right',
      render: (account) =>
        isActive && (
          <span className="flex justify-end">
            <IconButton
              icon="key"
              label={`Make another key for ${account.name}`}
              onClick={() => onKey(account)}
            />
            <IconButton icon="trash" label={`Delete ${account.name}`} onClick={() => onDelete(account)} />
          </span>
        ),
    },
  ]
}
