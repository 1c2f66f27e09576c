import { useState, type FormEvent } from 'react'
import { describeFailure } from '../api/api-error.ts'
import { confirmWithKey } from '../api/sessions.ts'
import { Button } from '../ui/forms/button.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'

export function ConfirmKeyForm({ onFinish }: { readonly onFinish: (isConfirmed: boolean) => void }) {
  const [apiKey, setApiKey] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setIsBusy(true)
    try {
      await confirmWithKey(apiKey.trim())
      onFinish(true)
    } catch (error) {
      setFailure(describeFailure(error).message)
      setIsBusy(false)
    }
  }
  return (
    <Dialog
      title="Enter your API key again"
      isOpen
      onClose={() => onFinish(false)}
      description="This changes credit. Enter the key that you signed in with; it is not stored in the browser."
    >
      <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <TextField
          label="API key"
          type="password"
          autoComplete="current-password"
          value={apiKey}
          onChange={setApiKey}
          error={failure}
        />
        <Button kind="primary" type="submit" isBusy={isBusy} disabled={apiKey.trim() === ''}>
          Confirm
        </Button>
      </form>
    </Dialog>
  )
}
