import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermissions } from '../api/permissions.ts'
import { giveRole, heldRolesQuery, rolesQuery, takeRole, type RoleHolder } from '../api/roles.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { Button } from '../ui/forms/button.tsx'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { SelectField } from '../ui/forms/select-field.tsx'
import { showFailure } from '../ui/overlays/toasts.tsx'
import { Badge } from '../ui/text/badge.tsx'

interface RoleAssignmentsProps {
  readonly holder: RoleHolder
  /** The role of a membership is changed elsewhere. */
  readonly without?: string | undefined
}

/** The roles that a person or group has in the account beside that of the membership. */
export function RoleAssignments({ holder, without }: RoleAssignmentsProps) {
  const may = usePermissions()
  const queryClient = useQueryClient()
  const held = useInfiniteQuery(heldRolesQuery(holder))
  const roles = useInfiniteQuery(rolesQuery())
  const [chosen, setChosen] = useState('')
  const change = useMutation({
    mutationFn: async ({ roleId, isGiven }: { roleId: string; isGiven: boolean }) => {
      await (isGiven ? giveRole(holder, roleId) : takeRole(holder, roleId))
    },
    onSuccess: async () => {
      setChosen('')
      await queryClient.invalidateQueries({ queryKey: ['roles', 'of', holder.id] })
    },
    onError: (error) => showFailure('The roles could not be changed', error),
  })
  const canChange = may('members.manage')
  const own = (held.data?.pages.flatMap(({ data }) => data) ?? []).filter(({ name }) => name !== without)
  const others = (roles.data?.pages.flatMap(({ data }) => data) ?? []).filter(
    ({ id, name }) => name !== without && !own.some((role) => role.id === id),
  )
  return (
    <div className="flex flex-col gap-3">
      <h3 className="text-sm font-medium">Further roles</h3>
      {held.error && <ErrorPanel title="The roles could not be loaded" error={held.error} />}
      {held.isSuccess && own.length === 0 && <p className="text-sm text-ink-soft">None.</p>}
      <ul className="flex flex-col divide-y divide-line">
        {own.map((role) => (
          <li key={role.id} className="flex items-center justify-between gap-3 py-1 text-sm">
            <Badge>{role.name}</Badge>
            {canChange && (
              <IconButton
                icon="close"
                label={`Take the role ${role.name}`}
                disabled={change.isPending}
                onClick={() => change.mutate({ roleId: role.id, isGiven: false })}
              />
            )}
          </li>
        ))}
      </ul>
      {canChange && others.length > 0 && (
        <div className="flex items-end gap-2">
          <SelectField
            label="Give a role"
            className="min-w-0 grow"
            value={chosen}
            choices={[
              { value: '', label: 'Choose a role' },
              ...others.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onChange={setChosen}
          />
          <Button
            disabled={chosen === ''}
            isBusy={change.isPending}
            onClick={() => change.mutate({ roleId: chosen, isGiven: true })}
          >
            Give
          </Button>
        </div>
      )}
    </div>
  )
}
