import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { writeAccountNote } from '../../api/accounts.ts'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

interface NoteDialogProps {
  readonly id: string
  readonly note: string
  readonly onClose: () => void
}

/** Writes what operators note about an account. */
export function NoteDialog({ id, note, onClose }: NoteDialogProps) {
  const queryClient = useQueryClient()
  const [text, setText] = useState(note)
  const writing = useMutation({
    mutationFn: () => writeAccountNote(id, text.trim()),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['accounts'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="Note about this account"
      action="Save the note"
      work={writing}
      failure="The note could not be saved"
      onClose={onClose}
    >
      <TextArea label="Note for operators" value={text} onChange={setText} />
    </FormDialog>
  )
}
