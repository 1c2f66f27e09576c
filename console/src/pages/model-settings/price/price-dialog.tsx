import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setModelPrice, type ConfiguredModel } from '../../../api/model-settings.ts'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../../ui/overlays/toasts.tsx'
import { draftOfPrice, readPrice } from './price-draft.ts'
import { PriceFields } from './price-fields.tsx'

interface PriceDialogProps {
  readonly model: ConfiguredModel
  readonly onClose: () => void
}

/** A price from now or from a later moment on. */
export function PriceDialog({ model, onClose }: PriceDialogProps) {
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(() => draftOfPrice(model.price))
  const [from, setFrom] = useState('')
  const [reason, setReason] = useState('')
  const read = readPrice(draft)
  const setting = useMutation({
    mutationFn: async () => {
      if (read.problem !== null) throw new Error(read.problem)
      return setModelPrice(model.id, {
        price: read.price,
        ...(from === '' ? {} : { effective_from: new Date(from).toISOString() }),
        ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
      })
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries()
      showToast(
        'The price is set',
        from === '' ? 'Requests from now on pay it.' : 'Requests from that moment on pay it.',
      )
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Price of ${model.id}`}
      action="Set the price"
      work={setting}
      failure="The price could not be set"
      isIncomplete={read.problem !== null}
      onClose={onClose}
    >
      <TextField
        label="Charged from"
        type="datetime-local"
        hint="In your time zone. Leave it empty for now. Requests that began before pay the price of before."
        value={from}
        onChange={setFrom}
      />
      <PriceFields draft={draft} onChange={setDraft} problem={read.problem} />
      <TextField
        label="Reason"
        maxLength={500}
        hint="For the audit log. It may be empty."
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  )
}
