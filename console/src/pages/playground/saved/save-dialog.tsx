import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { saveChat } from '../../../api/saved-chats.ts'
import { SwitchField } from '../../../ui/forms/switch-field.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../../ui/overlays/toasts.tsx'
import type { ChatMessage } from '../chat/chat-state.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import { nameOf, promptOf, toContent } from './chat-content.ts'

interface SaveDialogProps {
  readonly model: string
  readonly search: PlaygroundSearch
  readonly messages: readonly ChatMessage[]
  readonly onClose: () => void
}

const NAME_LENGTH_MAX = 200

/** Keeps the prompt with its parameters: what was written up to the last question, without its answer. */
export function SaveDialog({ model, search, messages, onClose }: SaveDialogProps) {
  const prompt = promptOf(messages)
  const [name, setName] = useState(prompt.length === 0 ? '' : nameOf(prompt))
  const [isShared, setIsShared] = useState(false)
  const queryClient = useQueryClient()
  const work = useMutation({
    mutationFn: () =>
      saveChat({
        kind: 'prompt',
        name: name.trim(),
        visibility: isShared ? 'project' : 'private',
        content: toContent(model, search, prompt),
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['saved-chats', 'prompt'] })
      showToast('The prompt is saved.')
      onClose()
    },
  })
  return (
    <FormDialog
      title="Save the prompt"
      action="Save"
      work={{ ...work, mutate: () => work.mutate() }}
      failure="The prompt could not be saved"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={NAME_LENGTH_MAX}
        hint="The model, its parameters and the messages up to the last question are saved. Pictures are left out."
      />
      <SwitchField label="Everybody in the project can use it" isOn={isShared} onChange={setIsShared} />
    </FormDialog>
  )
}
