import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  addToGroup,
  deleteGroup,
  groupUsersQuery,
  membersQuery,
  removeFromGroup,
  renameGroup,
  type Group,
} from '../../api/people.ts'
import { RoleAssignments } from '../../organization/role-assignments.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'

/** One group: who is in it, its name, and its end. */
export function GroupSheet({ group, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(group.name)
  const [directoryName, setDirectoryName] = useState(group.directory_name ?? '')
  const [isDeleting, setIsDeleting] = useState(false)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['groups'] })
  const rename = useMutation({
    mutationFn: () => renameGroup(group.id, name.trim(), directoryName === '' ? null : directoryName),
    onSuccess: async () => {
      await refresh()
      showToast('Group changed')
    },
    onError: (error) => showFailure('The group could not be changed', error),
  })
  return (
    <Sheet title={group.name} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <CopyableId id={group.id} label="group id" />
        <GroupUsers groupId={group.id} />
        <RoleAssignments holder={{ kind: 'group', id: group.id }} />
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            rename.mutate()
          }}
        >
          <TextField label="Name" maxLength={200} value={name} onChange={setName} />
          <TextField
            label="Name in the directory"
            hint="Whoever has this group at the company’s sign-in is in it after their next sign-in."
            maxLength={256}
            value={directoryName}
            onChange={setDirectoryName}
          />
          <Button
            type="submit"
            className="self-start"
            isBusy={rename.isPending}
            disabled={
              name.trim() === '' ||
              (name.trim() === group.name && directoryName === (group.directory_name ?? ''))
            }
          >
            Save
          </Button>
        </form>
        <div>
          <Button kind="danger" onClick={() => setIsDeleting(true)}>
            Delete the group
          </Button>
        </div>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete the group ${group.name}?`}
          description="Its members lose at once what they have only by this group. Their own roles stay."
          action="Delete"
          onConfirm={async () => {
            await deleteGroup(group.id)
            await refresh()
            onClose()
          }}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </Sheet>
  )
}

function GroupUsers({ groupId }: { readonly groupId: string }) {
  const queryClient = useQueryClient()
  const users = useInfiniteQuery(groupUsersQuery(groupId))
  const members = useInfiniteQuery(membersQuery())
  const [chosen, setChosen] = useState('')
  const inGroup = users.data?.pages.flatMap(({ data }) => data) ?? []
  const others = (members.data?.pages.flatMap(({ data }) => data) ?? []).filter(
    ({ id }) => !inGroup.some((user) => user.id === id),
  )
  const change = useMutation({
    mutationFn: ({ userId, isIn }: { userId: string; isIn: boolean }) =>
      isIn ? addToGroup(groupId, userId).then(() => {}) : removeFromGroup(groupId, userId).then(() => {}),
    onSuccess: () => {
      setChosen('')
      return queryClient.invalidateQueries({ queryKey: ['groups', groupId] })
    },
    onError: (error) => showFailure('The group could not be changed', error),
  })
  return (
    <div className="flex flex-col gap-3">
      <h3 className="text-sm font-medium">Members</h3>
      {users.error && <ErrorPanel title="The members could not be loaded" error={users.error} />}
      {users.isSuccess && inGroup.length === 0 && <p className="text-sm text-ink-soft">Nobody yet.</p>}
      <ul className="flex flex-col divide-y divide-line">
        {inGroup.map(({ id, name, email }) => (
          <li key={id} className="flex items-center justify-between gap-3 py-1 text-sm">
            <span className="min-w-0 truncate">
              {name || email} {name && <span className="text-ink-soft">{email}</span>}
            </span>
            <IconButton
              icon="close"
              label={`Take ${name || email} out of the group`}
              disabled={change.isPending}
              onClick={() => change.mutate({ userId: id, isIn: false })}
            />
          </li>
        ))}
      </ul>
      {users.hasNextPage && (
        <Button onClick={() => void users.fetchNextPage()} isBusy={users.isFetchingNextPage}>
          Show more
        </Button>
      )}
      {others.length > 0 && (
        <div className="flex items-end gap-2">
          <SelectField
            label="Add a member of the account"
            className="min-w-0 grow"
            value={chosen}
            choices={[
              { value: '', label: 'Choose a person' },
              ...others.map(({ id, name, email }) => ({
                value: id,
                label: name === null ? email : `${name} (${email})`,
              })),
            ]}
            onChange={setChosen}
          />
          <Button
            disabled={chosen === ''}
            isBusy={change.isPending}
            onClick={() => change.mutate({ userId: chosen, isIn: true })}
          >
            Add
          </Button>
        </div>
      )}
    </div>
  )
}
