import { MODEL_KINDS, type Model, type ModelCategory } from '../../api/model-kinds.ts'
import { SelectField } from '../../ui/forms/select-field.tsx'
import type { PlaygroundSearch } from './playground-search.ts'

interface ModelPickerProps {
  readonly models: readonly Model[]
  readonly model: Model | undefined
  readonly kind: string | undefined
  readonly onChange: (change: PlaygroundSearch) => void
}

/** Chooses what to do, and the model that does it. */
export function ModelPicker({ models, model, kind: wanted, onChange }: ModelPickerProps) {
  const kinds = [...new Set(models.map(({ category }) => category))]
  const kind: ModelCategory = model?.category ?? kinds.find((one) => one === wanted) ?? 'llm'
  const ofKind = models.filter(({ category }) => category === kind)
  return (
    <div className="flex min-w-0 items-center gap-2 max-sm:w-full">
      <SelectField
        label="Kind"
        isLabelHidden
        value={kind}
        choices={kinds.map((one) => ({ value: one, label: MODEL_KINDS[one] }))}
        onChange={(chosen) => onChange({ kind: chosen, model: undefined, form: undefined })}
        className="max-sm:w-36 max-sm:shrink-0"
      />
      <SelectField
        label="Model"
        isLabelHidden
        value={model?.id ?? ''}
        choices={ofKind.map(({ id, display_name, is_ready }) => ({
          value: id,
          label: is_ready ? display_name : `${display_name} (not ready)`,
        }))}
        onChange={(id) => onChange({ model: id })}
        className="w-56 max-sm:w-auto max-sm:min-w-0 max-sm:flex-1"
      />
    </div>
  )
}
