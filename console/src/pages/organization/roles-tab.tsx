import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermissions } from '../../api/permissions.ts'
import { createRole, deleteRole, rolesQuery, type Role, type RolePermission } from '../../api/roles.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { CheckboxField } from '../../ui/forms/checkbox-field.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

/** What each role of the account allows. */
export function RolesTab() {
  const queryClient = useQueryClient()
  const may = usePermissions()
  const roles = useInfiniteQuery(rolesQuery())
  const [isMaking, setIsMaking] = useState(false)
  const [deleted, setDeleted] = useState<Role | null>(null)
  if (roles.error) return <ErrorPanel title="Roles could not be loaded" error={roles.error} />
  if (roles.isPending) return <SkeletonRows />
  const rows = roles.data.pages.flatMap(({ data }) => data)
  // The owner has every permission.
  const permissions = [...new Set(rows.flatMap((role) => role.permissions))]
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['roles'] })
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          A role bounds every key and session of whoever has it. Roles in a project are on the page of the
          project.
        </p>
        {may('members.manage') && (
          <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
            New role
          </Button>
        )}
      </div>
      <div
        role="region"
        aria-label="What roles allow"
        tabIndex={0}
        className="overflow-x-auto rounded-lg border border-line bg-surface"
      >
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line">
              <th scope="col" className="px-4 py-2 text-left text-xs font-medium text-ink-soft">
                Permission
              </th>
              {rows.map((role) => (
                <th key={role.id} scope="col" className="px-3 py-2 text-center text-xs font-medium">
                  <span className="inline-flex items-center gap-1 whitespace-nowrap">
                    {role.name}
                    {!role.predefined_role && may('members.manage') && (
                      <IconButton
                        icon="trash"
                        label={`Delete the role ${role.name}`}
                        onClick={() => setDeleted(role)}
                      />
                    )}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {permissions.map((permission) => (
              <tr key={permission} className="border-b border-line last:border-b-0">
                <th scope="row" className="px-4 py-2 text-left font-mono text-xs font-normal">
                  {permission}
                </th>
                {rows.map((role) => (
                  <td key={role.id} className="px-3 py-2 text-center">
                    {role.permissions.includes(permission) ? (
                      <span className="inline-flex text-good">
                        <Icon name="check" />
                        <span className="sr-only">yes</span>
                      </span>
                    ) : (
                      <span className="sr-only">no</span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isMaking && (
        <NewRoleDialog permissions={permissions} onDone={refresh} onClose={() => setIsMaking(false)} />
      )}
      {deleted && (
        <ConfirmDialog
          title={`Delete the role ${deleted.name}?`}
          description="Whoever has it loses at once what only it allows."
          action="Delete"
          onConfirm={async () => {
            await deleteRole(deleted.id)
            await refresh()
          }}
          onClose={() => setDeleted(null)}
        />
      )}
    </div>
  )
}

interface NewRoleDialogProps {
  readonly permissions: readonly RolePermission[]
  readonly onDone: () => Promise<unknown>
  readonly onClose: () => void
}

function NewRoleDialog({ permissions, onDone, onClose }: NewRoleDialogProps) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly RolePermission[]>([])
  const creation = useMutation({
    mutationFn: () => createRole(name.trim(), [...chosen]),
    onSuccess: async () => {
      await onDone()
      onClose()
    },
  })
  return (
    <FormDialog
      title="New role"
      action="Make the role"
      work={creation}
      failure="The role could not be made"
      isIncomplete={name.trim() === '' || chosen.length === 0}
      onClose={onClose}
    >
      <TextField label="Name" required autoFocus maxLength={100} value={name} onChange={setName} />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-sm font-medium">Permissions</legend>
        {permissions.map((permission) => (
          <CheckboxField
            key={permission}
            label={permission}
            isChecked={chosen.includes(permission)}
            onChange={(isChecked) =>
              setChosen(isChecked ? [...chosen, permission] : chosen.filter((other) => other !== permission))
            }
          />
        ))}
      </fieldset>
    </FormDialog>
  )
}
