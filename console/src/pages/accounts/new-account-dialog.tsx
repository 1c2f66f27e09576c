import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { createAccount } from '../../api/accounts.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'

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
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    creation.mutate()
  }
  return (
    <Dialog
      title="New account"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form="new-account"
            isBusy={creation.isPending}
            disabled={name.trim() === ''}
          >
            Make the account
          </Button>
        </>
      }
    >
      <form id="new-account" onSubmit={submit} className="flex flex-col gap-4">
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
        {creation.error && <ErrorPanel title="The account could not be made" error={creation.error} />}
      </form>
    </Dialog>
  )
}
