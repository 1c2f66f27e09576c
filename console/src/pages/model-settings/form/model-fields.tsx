import { MODEL_KINDS, type ModelCategory } from '../../../api/model-kinds.ts'
import { SelectField, type Choice } from '../../../ui/forms/select-field.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import type { ModelDraft } from './model-draft.ts'

interface ModelFieldsProps {
  readonly draft: ModelDraft
  readonly isNew: boolean
  readonly onChange: (change: Partial<ModelDraft>) => void
}

const KINDS: readonly Choice<ModelCategory>[] = (
  [
    'llm',
    'image',
    'video',
    'stt',
    'tts',
    'embedding',
    'music',
    'rerank',
    'moderation',
    'upscale',
    'bg_remove',
  ] as const
).map((value) => ({ value, label: MODEL_KINDS[value] }))

/** What the model is called, and how long its texts are. */
export function ModelFields({ draft, isNew, onChange }: ModelFieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label="Id"
        required
        disabled={!isNew}
        maxLength={200}
        placeholder="our-llama"
        hint="What clients send as the model."
        value={draft.id}
        onChange={(id) => onChange({ id })}
      />
      <TextField
        label="Other ids"
        placeholder="llama, meta/our-llama"
        hint="With commas between them."
        value={draft.aliases}
        onChange={(aliases) => onChange({ aliases })}
      />
      <TextField
        label="Name"
        required
        maxLength={256}
        placeholder="Our Llama"
        value={draft.name}
        onChange={(name) => onChange({ name })}
      />
      <TextField
        label="Vendor"
        required
        maxLength={256}
        placeholder="Meta"
        value={draft.vendor}
        onChange={(vendor) => onChange({ vendor })}
      />
      <SelectField
        label="Kind"
        value={draft.category}
        choices={KINDS}
        onChange={(category) => onChange({ category })}
      />
      <div className="grid grid-cols-2 gap-4">
        <TextField
          label="Context, tokens"
          type="number"
          inputMode="numeric"
          min="1"
          step="1"
          value={draft.context}
          onChange={(context) => onChange({ context })}
        />
        <TextField
          label="Longest answer, tokens"
          type="number"
          inputMode="numeric"
          min="1"
          step="1"
          value={draft.maxOutput}
          onChange={(maxOutput) => onChange({ maxOutput })}
        />
      </div>
    </div>
  )
}
