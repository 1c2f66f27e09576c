import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { renamePasskey, type Passkey } from '../../api/passkeys.ts'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

interface RenamePasskeyDialogProps {
  readonly passkey: Passkey
  readonly onClose: () => void
}

export function RenamePasskeyDialog({ passkey, onClose }: RenamePasskeyDialogProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(passkey.name)
  const work = useMutation({
    mutationFn: () => renamePasskey(passkey.id, name.trim()),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['passkeys'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="Name the passkey"
      action="Save"
      work={work}
      failure="The name could not be saved"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <TextField
        label="Name"
        maxLength={200}
        value={name}
        onChange={setName}
        hint="So that you know the device when you see it in the list."
      />
    </FormDialog>
  )
}
