import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createAccount } from '../../api/accounts.ts'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

export function NewAccountDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [creditUsd, setCreditUsd] = useState('0')
  const creation = useMutation({
    mutationFn: () => createAccount(name.trim(), Number(creditUsd)),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['accounts'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="New account"
      action="Make the account"
      work={creation}
      failure="The account could not be made"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={200} value={name} onChange={setName} />
      <TextField
        label="Credit in USD"
        type="number"
        min="0"
        step="any"
        required
        value={creditUsd}
        onChange={setCreditUsd}
      />
    </FormDialog>
  )
}
