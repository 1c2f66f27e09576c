import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery } from '../api/account.ts'
import { groupsQuery } from '../api/people.ts'
import { usePermissions } from '../api/permissions.ts'
import {
  addProjectGroup,
  projectGroupsQuery,
  removeProjectGroup,
  type ProjectGroup,
  type ProjectRole,
} from '../api/projects.ts'
import type { Column } from '../ui/data/data-table.tsx'
import { PagedTable } from '../ui/data/paged-table.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Button } from '../ui/forms/button.tsx'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { SelectField } from '../ui/forms/select-field.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import { Badge } from '../ui/text/badge.tsx'
import type { ProjectPartProps } from './project-part.ts'
import { PROJECT_ROLE_CHOICES } from './role-choices.ts'

/** The groups whose members work in a project. */
export function ProjectGroups({ id, isActive: isOpen }: ProjectPartProps) {
  const may = usePermissions()
  const isActive = isOpen && may('members.manage')
  const queryClient = useQueryClient()
  const { data: account } = useQuery(accountQuery)
  const groups = useInfiniteQuery(projectGroupsQuery(id))
  const [isAdding, setIsAdding] = useState(false)
  const [removed, setRemoved] = useState<ProjectGroup | null>(null)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['projects', id, 'groups'] })
  // Groups belong to the account, so a session in a project cannot list them.
  const canAdd = isActive && account !== undefined && !account.session?.project
  const columns: Column<ProjectGroup>[] = [
    {
      id: 'name',
      header: 'Group',
      value: ({ group_name: name }) => name,
      render: ({ group_name: name }) => name,
    },
    {
      id: 'role',
      header: 'Role',
      value: ({ role }) => role,
      width: '112px',
      render: ({ role }) => <Badge>{role}</Badge>,
    },
    {
      id: 'remove',
      isAction: true,
      width: '64px',
      align: 'right',
      render: (group) =>
        isActive && (
          <IconButton
            icon="close"
            label={`Remove the group ${group.group_name} from the project`}
            onClick={() => setRemoved(group)}
          />
        ),
    },
  ]
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm text-ink-soft">Everybody in a group has its role here.</p>
        {canAdd && (
          <Button kind="primary" icon="plus" onClick={() => setIsAdding(true)}>
            Add a group
          </Button>
        )}
      </div>
      <PagedTable
        label="Groups"
        tools={{ id: 'groups' }}
        query={groups}
        columns={columns}
        rowId={({ group_id: groupId }) => groupId}
        empty={<EmptyState icon="people" title="No group was added" />}
      />
      {isAdding && <AddGroupDialog id={id} onDone={refresh} onClose={() => setIsAdding(false)} />}
      {removed && (
        <ConfirmDialog
          title={`Remove the group ${removed.group_name}?`}
          description="Its members lose this project at once, unless they were added themselves or by another group."
          action="Remove"
          onConfirm={async () => {
            await removeProjectGroup(id, removed.group_id)
            await refresh()
          }}
          onClose={() => setRemoved(null)}
        />
      )}
    </div>
  )
}

interface AddGroupDialogProps {
  readonly id: string
  readonly onDone: () => Promise<unknown>
  readonly onClose: () => void
}

function AddGroupDialog({ id, onDone, onClose }: AddGroupDialogProps) {
  const groups = useInfiniteQuery(groupsQuery())
  const [groupId, setGroupId] = useState('')
  const [role, setRole] = useState<ProjectRole>('member')
  const adding = useMutation({
    mutationFn: () => addProjectGroup(id, groupId, role),
    onSuccess: async () => {
      await onDone()
      onClose()
    },
  })
  const choices = groups.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <FormDialog
      title="Add a group"
      action="Add"
      work={adding}
      failure="The group could not be added"
      isIncomplete={groupId === ''}
      onClose={onClose}
    >
      <SelectField
        label="Group"
        value={groupId}
        choices={[
          { value: '', label: choices.length === 0 ? 'There is no group yet' : 'Choose a group' },
          ...choices.map(({ id: value, name }) => ({ value, label: name })),
        ]}
        onChange={setGroupId}
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
