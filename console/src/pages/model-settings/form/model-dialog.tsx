import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addModel, changeModel, type ConfiguredModel } from '../../../api/model-settings.ts'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../../ui/overlays/toasts.tsx'
import { PriceFields } from '../price/price-fields.tsx'
import { LifeFields } from './life-fields.tsx'
import { changesOf, draftOfModel, EMPTY_MODEL, readModel, type ModelDraft } from './model-draft.ts'
import { ModelFields } from './model-fields.tsx'
import { RouteFields } from './route-fields.tsx'
import { FurtherFields } from './further-fields.tsx'

interface ModelDialogProps {
  /** Null: a new one. */
  readonly model: ConfiguredModel | null
  readonly onClose: () => void
}

/** A new model, or everything of one that was added here but its price. */
export function ModelDialog({ model, onClose }: ModelDialogProps) {
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(() => (model === null ? EMPTY_MODEL : draftOfModel(model)))
  const change = (next: Partial<ModelDraft>): void => setDraft((old) => ({ ...old, ...next }))
  const { read, problems } = readModel(draft, model)
  const changes = model === null || read === null ? null : changesOf(model, read)
  const saving = useMutation({
    mutationFn: async () => {
      if (read === null) return
      const reason = draft.reason.trim() === '' ? {} : { reason: draft.reason.trim() }
      if (model === null)
        await addModel({ id: draft.id.trim(), ...read.members, price: read.price, ...reason })
      else await changeModel(model.id, { ...changesOf(model, read), ...reason })
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries()
      if (model === null) showToast('The model is added', `${draft.id} is served from now on.`)
      else showToast('The model is changed', `${model.id} is served so from now on.`)
      onClose()
    },
  })
  return (
    <FormDialog
      title={model === null ? 'Add a model' : `Edit ${model.id}`}
      action={model === null ? 'Add it' : 'Save the changes'}
      work={saving}
      failure={model === null ? 'The model could not be added' : 'The model could not be changed'}
      isIncomplete={read === null || (changes !== null && Object.keys(changes).length === 0)}
      isWide
      onClose={onClose}
    >
      <ModelFields draft={draft} isNew={model === null} onChange={change} />
      <RouteFields routes={draft.routes} onChange={(routes) => change({ routes })} />
      {model === null && (
        <fieldset className="flex flex-col gap-4 border-t border-line pt-4">
          <legend className="float-left mb-2 text-sm font-semibold">Price</legend>
          <PriceFields draft={draft.price} onChange={(price) => change({ price })} problem={problems.price} />
        </fieldset>
      )}
      <LifeFields draft={draft} onChange={change} />
      <FurtherFields draft={draft} onChange={change} problem={problems.others} />
      <TextField
        label="Reason"
        maxLength={500}
        hint="For the audit log. It may be empty."
        value={draft.reason}
        onChange={(reason) => change({ reason })}
      />
    </FormDialog>
  )
}
