import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteGroup, renameGroup, type Group } from '../../../api/people.ts'
import { usePermissions } from '../../../api/permissions.ts'
import { DirectoryNote } from '../../../organization/directory-mark.tsx'
import { RoleAssignments } from '../../../organization/role-assignments.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../../ui/overlays/sheet.tsx'
import { showFailure, showToast } from '../../../ui/overlays/toasts.tsx'
import { CopyableId } from '../../../ui/text/copyable-id.tsx'
import { GroupUsers } from './group-users.tsx'

/** One group: who is in it, its name, and its end. */
export function GroupSheet({ group, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const may = usePermissions()
  const isOfDirectory = group.is_scim_managed
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
        {isOfDirectory && (
          <DirectoryNote>
            Your directory manages this group by SCIM: change its name and its members there. Its roles and
            projects are given here.
          </DirectoryNote>
        )}
        <GroupUsers group={group} canChange={may('members.manage')} />
        <RoleAssignments holder={{ kind: 'group', id: group.id }} />
        {may('members.manage') && !isOfDirectory && (
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
        )}
        {may('members.manage') && (
          <div>
            <Button kind="danger" onClick={() => setIsDeleting(true)}>
              Delete the group
            </Button>
          </div>
        )}
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete the group ${group.name}?`}
          description={`Its members lose at once what they have only by this group. Their own roles stay.${isOfDirectory ? ' While the directory still has the group, it may make it again: remove it there first.' : ''}`}
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
