import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { changeRole, createRole, type Role, type RolePermission } from '../../api/roles.ts'
import { CheckboxField } from '../../ui/forms/checkbox-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

interface RoleDialogProps {
  readonly role: 'new' | Role
  readonly permissions: readonly RolePermission[]
  readonly onDone: () => Promise<unknown>
  readonly onClose: () => void
}

/** Makes an own role by ticking, or changes one. */
export function RoleDialog({ role, permissions, onDone, onClose }: RoleDialogProps) {
  const isNew = role === 'new'
  const [name, setName] = useState(isNew ? '' : role.name)
  const [chosen, setChosen] = useState<readonly RolePermission[]>(isNew ? [] : role.permissions)
  const writing = useMutation({
    mutationFn: () =>
      isNew ? createRole(name.trim(), [...chosen]) : changeRole(role.id, name.trim(), [...chosen]),
    onSuccess: async () => {
      await onDone()
      onClose()
    },
  })
  return (
    <FormDialog
      title={isNew ? 'New role' : `Change the role ${role.name}`}
      action={isNew ? 'Make the role' : 'Change the role'}
      work={writing}
      failure={isNew ? 'The role could not be made' : 'The role could not be changed'}
      isIncomplete={name.trim() === '' || chosen.length === 0}
      onClose={onClose}
    >
      <TextField label="Name" required autoFocus maxLength={100} value={name} onChange={setName} />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-sm font-medium">Permissions</legend>
        {!isNew && (
          <p className="pb-1 text-xs text-ink-soft">
            A change applies at once to every key and session of whoever has the role.
          </p>
        )}
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
