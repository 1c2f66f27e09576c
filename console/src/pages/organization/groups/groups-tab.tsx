import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { msOf } from '../../../api/organization-pages.ts'
import { usePermissions } from '../../../api/permissions.ts'
import { createGroup, groupsQuery, type Group } from '../../../api/people.ts'
import { DirectoryMark } from '../../../organization/directory-mark.tsx'
import type { Column } from '../../../ui/data/data-table.tsx'
import { timeOfSeconds } from '../../../ui/data/table/column.ts'
import { PagedTable } from '../../../ui/data/paged-table.tsx'
import { EmptyState } from '../../../ui/feedback/empty-state.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx'
import { AS_DETAIL, useCloseDetail } from '../../../ui/overlays/use-detail-history.ts'
import { CopyableId } from '../../../ui/text/copyable-id.tsx'
import { RowLink } from '../../../ui/text/row-link.tsx'
import { Time } from '../../../ui/text/time.tsx'
import { GroupSheet } from './group-sheet.tsx'

const route = getRouteApi('/shell/organization')

/** People who are given the same things together. */
export function GroupsTab() {
  const { open: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const groups = useInfiniteQuery(groupsQuery())
  const [isMaking, setIsMaking] = useState(false)
  const opened = groups.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openedId)
  const open = ({ id }: Pick<Group, 'id'>): void =>
    void navigate({ search: (old) => ({ ...old, open: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, open: undefined }), replace: true }),
  )
  const may = usePermissions()
  const newGroup = may('members.manage') && (
    <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
      New group
    </Button>
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          A group is added to projects like a person, and may have a budget of its own.
        </p>
        {newGroup}
      </div>
      <PagedTable
        label="Groups"
        tools={{ id: 'groups' }}
        query={groups}
        columns={columnsOf(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          <EmptyState icon="people" title="No group yet">
            Make one for people who should get the same projects.
          </EmptyState>
        }
      />
      {isMaking && <NewGroupDialog onMade={open} onClose={() => setIsMaking(false)} />}
      {opened && <GroupSheet group={opened} onClose={close} />}
    </div>
  )
}

function columnsOf(onOpen: (group: Group) => void): Column<Group>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      value: ({ name }) => name,
      render: (group) => (
        <span className="flex min-w-0 items-center gap-2">
          <RowLink onOpen={() => onOpen(group)}>{group.name}</RowLink>
          {group.is_scim_managed && <DirectoryMark />}
        </span>
      ),
    },
    {
      id: 'id',
      header: 'Id',
      value: ({ id }) => id,
      width: '176px',
      isMinor: true,
      render: ({ id }) => <CopyableId id={id} label="group id" isShort />,
    },
    {
      id: 'created',
      header: 'Made',
      value: ({ created_at: at }) => timeOfSeconds(at),
      width: '128px',
      render: ({ created_at: at }) => <Time at={msOf(at)} />,
    },
  ]
}

interface NewGroupDialogProps {
  readonly onMade: (group: Pick<Group, 'id'>) => void
  readonly onClose: () => void
}

function NewGroupDialog({ onMade, onClose }: NewGroupDialogProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const creation = useMutation({
    mutationFn: () => createGroup(name.trim()),
    onSuccess: async (group) => {
      await queryClient.invalidateQueries({ queryKey: ['groups'] })
      onClose()
      onMade(group)
    },
  })
  return (
    <FormDialog
      title="New group"
      action="Make the group"
      work={creation}
      failure="The group could not be made"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <TextField label="Name" required autoFocus maxLength={200} value={name} onChange={setName} />
    </FormDialog>
  )
}
