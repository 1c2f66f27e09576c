import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiKey, KeyActions } from '../api/keys.ts'
import { SelectField } from '../ui/forms/select-field.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import { KeyShownOnce } from './key-shown-once.tsx'

interface RotateKeyDialogProps {
  readonly apiKey: ApiKey
  readonly rotate: NonNullable<KeyActions['rotate']>
  readonly queryKey: KeyActions['queryKey']
  readonly onClose: () => void
}

const OVERLAPS = [
  { value: '0', label: 'Not at all: it ends at once' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
] as const

/** Gives a key a new secret, and shows it the one time that it can be seen. */
export function RotateKeyDialog({ apiKey, rotate, queryKey, onClose }: RotateKeyDialogProps) {
  const queryClient = useQueryClient()
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]['value']>('86400')
  const rotation = useMutation({
    mutationFn: () => rotate(apiKey, Number(overlap)),
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  })
  if (rotation.data) return <KeyShownOnce created={rotation.data} onClose={onClose} />
  return (
    <FormDialog
      title={`Rotate “${apiKey.name}”`}
      action="Rotate the key"
      work={rotation}
      failure="The key could not be rotated"
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        The key gets a new secret. Its id, limits and usage stay, and both secrets share them.
        {apiKey.former_key &&
          ` ${apiKey.former_key.key_prefix}, from before the last rotation, ends at once.`}
      </p>
      <SelectField
        label={`How long ${apiKey.key_prefix} still works`}
        value={overlap}
        choices={OVERLAPS}
        onChange={setOverlap}
      />
    </FormDialog>
  )
}
