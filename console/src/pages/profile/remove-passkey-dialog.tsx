import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { removePasskey, type Passkey } from '../../api/passkeys.ts'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'

interface RemovePasskeyDialogProps {
  readonly passkey: Passkey
  readonly onClose: () => void
}

/** Removes a passkey. Asks once more for the last way in. */
export function RemovePasskeyDialog({ passkey, onClose }: RemovePasskeyDialogProps) {
  const queryClient = useQueryClient()
  const [isLast, setIsLast] = useState(false)
  const remove = async (): Promise<void> => {
    await removePasskey(passkey.id, isLast)
    await queryClient.invalidateQueries({ queryKey: ['passkeys'] })
  }
  return (
    <ConfirmDialog
      key={String(isLast)}
      title={isLast ? 'Remove your last way in?' : `Remove ${passkey.name}?`}
      description={
        isLast
          ? 'You have no other passkey, no key of your own and no directory. When this session ends, only a link from whoever manages the members lets you in again.'
          : 'It does not sign you in any more. Sessions that began with it go on until you end them. Delete it on the device too.'
      }
      action={isLast ? 'Remove all the same' : 'Remove'}
      onConfirm={async () => {
        try {
          await remove()
        } catch (error) {
          if (!isLast && describeFailure(error).code === 'conflict') {
            setIsLast(true)
            // The dialog asks again instead of closing.
            await new Promise(() => {})
          }
          throw error
        }
      }}
      onClose={onClose}
    />
  )
}
