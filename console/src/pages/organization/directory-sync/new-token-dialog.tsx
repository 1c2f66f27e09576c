import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createScimToken, type ScimToken } from '../../../api/scim.ts'
import { Button } from '../../../ui/forms/button.tsx'
import { SelectField } from '../../../ui/forms/select-field.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx'
import { CodeBlock } from '../../../ui/text/code-block.tsx'

const DAY_SECONDS = 86_400
const LIVES = [
  { value: 'never', label: 'Never' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After a year' },
] as const

interface NewTokenDialogProps {
  /** `new`, or the token that gets a successor. */
  readonly of: 'new' | ScimToken
  readonly baseUrl: string
  readonly onClose: () => void
}

/** Makes a token for a directory, and shows it this once. */
export function NewTokenDialog({ of, baseUrl, onClose }: NewTokenDialogProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(of === 'new' ? '' : of.name)
  const [life, setLife] = useState<(typeof LIVES)[number]['value']>('never')
  const making = useMutation({
    mutationFn: () => createScimToken(name.trim(), life === 'never' ? null : Number(life) * DAY_SECONDS),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['scim'] }),
  })
  if (making.data)
    return (
      <Dialog
        title={`Token “${making.data.name}”`}
        isOpen
        onClose={onClose}
        isWide
        description={
          of === 'new'
            ? 'Enter both in the directory now. The token is shown only this once.'
            : 'Enter the new token in the directory now; it is shown only this once. The old one works until you delete it.'
        }
        actions={
          <Button kind="primary" onClick={onClose}>
            I have copied it
          </Button>
        }
      >
        <Labelled label="Secret token" code={making.data.value} />
        <Labelled label="Base URL" code={baseUrl} />
      </Dialog>
    )
  return (
    <FormDialog
      title={of === 'new' ? 'Connect a directory' : `Replace the token “${of.name}”`}
      action="Make the token"
      work={making}
      failure="The token could not be made"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        {of === 'new'
          ? 'Whoever has the token decides who is in which group, and so gives every role that groups have.'
          : 'The directory goes on with the old token until you delete it, so nothing stops in between.'}
      </p>
      <TextField
        label="Name"
        hint="Usually the directory. The audit log names it for what the directory does."
        placeholder="Entra"
        required
        autoFocus
        maxLength={200}
        value={name}
        onChange={setName}
      />
      <SelectField
        label="Expires"
        value={life}
        choices={LIVES}
        hint={life === 'never' ? undefined : 'The synchronisation stops then. Replace the token before.'}
        onChange={setLife}
      />
    </FormDialog>
  )
}

function Labelled({ label, code }: { readonly label: string; readonly code: string }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="text-xs font-medium text-ink-soft">{label}</p>
      <CodeBlock label={label} language="text" code={code} />
    </div>
  )
}
