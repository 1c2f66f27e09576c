import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  addToGroup,
  groupUsersQuery,
  membersQuery,
  removeFromGroup,
  type Group,
} from '../../../api/people.ts'
import { DirectoryMark } from '../../../organization/directory-mark.tsx'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { IconButton } from '../../../ui/forms/icon-button.tsx'
import { SelectField } from '../../../ui/forms/select-field.tsx'
import { showFailure } from '../../../ui/overlays/toasts.tsx'

interface GroupUsersProps {
  readonly group: Group
  readonly canChange: boolean
}

/** Who is in a group. Whom the directory put there, only the directory takes out. */
export function GroupUsers({ group, canChange }: GroupUsersProps) {
  const { id: groupId, is_scim_managed: isOfDirectory } = group
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
        {inGroup.map(({ id, name, email, is_scim_managed: isFromDirectory }) => (
          <li key={id} className="flex items-center justify-between gap-3 py-1 text-sm">
            <span className="min-w-0 truncate">
              {name || email} {name && <span className="text-ink-soft">{email}</span>}
            </span>
            {isFromDirectory ? (
              <DirectoryMark />
            ) : (
              canChange && (
                <IconButton
                  icon="close"
                  label={`Take ${name || email} out of the group`}
                  disabled={change.isPending}
                  onClick={() => change.mutate({ userId: id, isIn: false })}
                />
              )
            )}
          </li>
        ))}
      </ul>
      {users.hasNextPage && (
        <Button onClick={() => void users.fetchNextPage()} isBusy={users.isFetchingNextPage}>
          Show more
        </Button>
      )}
      {canChange && !isOfDirectory && others.length > 0 && (
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
