import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermissions } from '../api/permissions.ts'
import {
  addProjectUser,
  changeProjectUser,
  PROJECT_ROLES,
  projectUsersQuery,
  removeProjectUser,
  type ProjectRole,
  type ProjectUser,
} from '../api/projects.ts'
import type { Column } from '../ui/data/data-table.tsx'
import { PagedTable } from '../ui/data/paged-table.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Button } from '../ui/forms/button.tsx'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { SelectField } from '../ui/forms/select-field.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import { showFailure } from '../ui/overlays/toasts.tsx'
import type { ProjectPartProps } from './project-part.ts'
import { PROJECT_ROLE_CHOICES } from './role-choices.ts'

/** The people in a project. */
export function ProjectPeople({ id, isActive: isOpen }: ProjectPartProps) {
  const may = usePermissions()
  const isActive = isOpen && may('members.manage')
  const queryClient = useQueryClient()
  const users = useInfiniteQuery(projectUsersQuery(id))
  const [isAdding, setIsAdding] = useState(false)
  const [removed, setRemoved] = useState<ProjectUser | null>(null)
  const refresh = async () => {
    await queryClient.invalidateQueries({ queryKey: ['projects', id, 'users'] })
    await queryClient.invalidateQueries({ queryKey: ['people'] })
  }
  const change = useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: ProjectRole }) =>
      changeProjectUser(id, userId, role),
    onSuccess: refresh,
    onError: (error) => showFailure('The role could not be changed', error),
  })
  const columns: Column<ProjectUser>[] = [
    {
      id: 'name',
      header: 'Person',
      value: ({ name, email }) => name ?? email,
      render: ({ name, email }) => name ?? email,
    },
    {
      id: 'email',
      header: 'E-mail',
      value: ({ email }) => email,
      isMinor: true,
      render: ({ email }) => email,
    },
    {
      id: 'role',
      header: 'Role',
      value: ({ role }) => role,
      width: '152px',
      render: ({ id: userId, role, email }) => (
        <SelectField
          label={`Role of ${email}`}
          isLabelHidden
          value={role}
          disabled={!isActive || change.isPending}
          choices={PROJECT_ROLES.map((value) => ({ value, label: value }))}
          onChange={(chosen) => {
            const known = PROJECT_ROLES.find((one) => one === chosen)
            if (known) change.mutate({ userId, role: known })
          }}
        />
      ),
    },
    {
      id: 'remove',
      isAction: true,
      width: '64px',
      align: 'right',
      render: (user) =>
        isActive && (
          <IconButton
            icon="close"
            label={`Remove ${user.email} from the project`}
            onClick={() => setRemoved(user)}
          />
        ),
    },
  ]
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm text-ink-soft">
          Owners of the account work in every project without being here.
        </p>
        {isActive && (
          <Button kind="primary" icon="plus" onClick={() => setIsAdding(true)}>
            Add a person
          </Button>
        )}
      </div>
      <PagedTable
        label="Members"
        tools={{ id: 'people' }}
        query={users}
        columns={columns}
        rowId={({ id: userId }) => userId}
        empty={
          <EmptyState icon="people" title="Nobody was added">
            Add members of the account, or invite people to this project.
          </EmptyState>
        }
      />
      {isAdding && <AddPersonDialog id={id} onDone={refresh} onClose={() => setIsAdding(false)} />}
      {removed && (
        <ConfirmDialog
          title={`Remove ${removed.name ?? removed.email}?`}
          description="Their keys and sessions in this project end at once. They stay a member of the account."
          action="Remove"
          onConfirm={async () => {
            await removeProjectUser(id, removed.id)
            await refresh()
          }}
          onClose={() => setRemoved(null)}
        />
      )}
    </div>
  )
}

interface AddPersonDialogProps {
  readonly id: string
  readonly onDone: () => Promise<unknown>
  readonly onClose: () => void
}

function AddPersonDialog({ id, onDone, onClose }: AddPersonDialogProps) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<ProjectRole>('member')
  const adding = useMutation({
    mutationFn: () => addProjectUser(id, email.trim(), role),
    onSuccess: async () => {
      await onDone()
      onClose()
    },
  })
  return (
    <FormDialog
      title="Add a person"
      action="Add"
      work={adding}
      failure="The person could not be added"
      isIncomplete={!email.includes('@')}
      onClose={onClose}
    >
      <TextField
        label="E-mail"
        type="email"
        required
        autoFocus
        maxLength={320}
        value={email}
        onChange={setEmail}
        hint="Of a member of the account. Others are invited first."
      />
      <SelectField
        label="Role in the project"
        value={role}
        choices={PROJECT_ROLE_CHOICES}
        onChange={setRole}
      />
    </FormDialog>
  )
}
