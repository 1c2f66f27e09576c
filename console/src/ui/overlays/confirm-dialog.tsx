import { useState, type ReactNode } from 'react'
import { ErrorPanel } from '../feedback/error-panel.tsx'
import { Button } from '../forms/button.tsx'
import { Dialog } from './dialog.tsx'

interface ConfirmDialogProps {
  readonly title: string
  /** What will happen, and whether it can be undone. */
  readonly description: ReactNode
  /** The verb on the button. */
  readonly action: string
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** Asks before something that cannot be undone. Stays open if it fails. */
export function ConfirmDialog({ title, description, action, onConfirm, onClose }: ConfirmDialogProps) {
  const [isBusy, setIsBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const confirm = async (): Promise<void> => {
    setIsBusy(true)
    setFailure(null)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setFailure(error)
      setIsBusy(false)
    }
  }
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" isBusy={isBusy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {failure !== null && <ErrorPanel title="That did not work" error={failure} />}
    </Dialog>
  )
}
