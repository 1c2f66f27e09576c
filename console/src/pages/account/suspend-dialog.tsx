import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { suspendAccount } from '../../api/accounts.ts'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

/** Suspends an account with a reason that it is told. */
export function SuspendDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [reason, setReason] = useState('')
  const suspension = useMutation({
    mutationFn: () => suspendAccount(id, reason.trim()),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['accounts'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="Suspend this account?"
      action="Suspend the account"
      work={suspension}
      failure="The account could not be suspended"
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">All of its keys are refused until it is activated again.</p>
      <TextField label="Reason, which the account is told" value={reason} onChange={setReason} />
    </FormDialog>
  )
}
