import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { KeyActions } from '../api/keys.ts'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import { NEW_KEY, settingsOfDraft } from './key-draft.ts'
import { KeyFields } from './key-fields.tsx'
import { KeyShownOnce } from './key-shown-once.tsx'

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
  return (
    <FormDialog
      title="New key"
      action="Make the key"
      work={creation}
      failure="The key could not be made"
      isIncomplete={draft.name.trim() === '' || draft.scopes.length === 0}
      onClose={onClose}
    >
      <KeyFields draft={draft} onChange={setDraft} hasEnvironment />
    </FormDialog>
  )
}
