import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import type { KeyActions } from '../api/keys.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { Button } from '../ui/forms/button.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'
import { NEW_KEY, settingsOfDraft } from './key-draft.ts'
import { KeyFields } from './key-fields.tsx'
import { KeyShownOnce } from './key-shown-once.tsx'

const FORM_ID = 'new-key'

interface NewKeyDialogProps {
  readonly actions: KeyActions
  readonly onClose: () => void
}

/** Makes a key, and shows it the one time that it can be seen. */
export function NewKeyDialog({ actions, onClose }: NewKeyDialogProps) {
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(NEW_KEY)
  const creation = useMutation({
    mutationFn: () => actions.create({ ...settingsOfDraft(draft), env: draft.env }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: actions.queryKey }),
  })
  if (creation.data) return <KeyShownOnce created={creation.data} onClose={onClose} />
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    creation.mutate()
  }
  return (
    <Dialog
      title="New key"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form={FORM_ID}
            isBusy={creation.isPending}
            disabled={draft.name.trim() === '' || draft.scopes.length === 0}
          >
            Make the key
          </Button>
        </>
      }
    >
      <form id={FORM_ID} onSubmit={submit} className="flex flex-col gap-4 pt-2">
        <KeyFields draft={draft} onChange={setDraft} hasEnvironment />
        {creation.error && <ErrorPanel title="The key could not be made" error={creation.error} />}
      </form>
    </Dialog>
  )
}
