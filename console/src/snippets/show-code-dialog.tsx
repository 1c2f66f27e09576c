import { Dialog } from '../ui/overlays/dialog.tsx'
import type { ApiCall } from './api-call.ts'
import { CodeSamples } from './code-samples.tsx'

interface ShowCodeDialogProps {
  readonly call: ApiCall
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** "Show code": what the page sends, as a program would. */
export function ShowCodeDialog({ call, isOpen, onClose }: ShowCodeDialogProps) {
  return (
    <Dialog
      title="Code"
      isWide
      isOpen={isOpen}
      onClose={onClose}
      description="The same request from a program. Put an API key into the variable PARKWAY_API_KEY."
    >
      <CodeSamples call={call} />
    </Dialog>
  )
}
