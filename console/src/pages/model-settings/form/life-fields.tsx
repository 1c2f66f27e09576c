import { CheckboxField } from '../../../ui/forms/checkbox-field.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import type { ModelDraft } from './model-draft.ts'

interface LifeFieldsProps {
  readonly draft: ModelDraft
  readonly onChange: (change: Partial<ModelDraft>) => void
}

const MOMENT = {
  placeholder: '2027-01-31',
  pattern: '\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z)?',
  title: 'A date such as 2027-01-31, or a time in UTC such as 2027-01-31T12:00:00Z',
} as const

/** When the model comes, is deprecated and ends, and what comes after it. */
export function LifeFields({ draft, onChange }: LifeFieldsProps) {
  return (
    <fieldset className="flex flex-col gap-4 border-t border-line pt-4">
      <legend className="float-left mb-2 text-sm font-semibold">Life</legend>
      <p className="clear-both text-xs text-ink-faint">
        Each is a date, or a time in UTC such as 2027-01-31T12:00:00Z. All may be empty.
      </p>
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          label="Available from"
          {...MOMENT}
          value={draft.availableFrom}
          onChange={(availableFrom) => onChange({ availableFrom })}
        />
        <TextField
          label="Deprecated from"
          {...MOMENT}
          hint="Answers say so from then on."
          value={draft.deprecatedFrom}
          onChange={(deprecatedFrom) => onChange({ deprecatedFrom })}
        />
        <TextField
          label="Ends"
          {...MOMENT}
          hint="It is not found after that."
          value={draft.shutdownAt}
          onChange={(shutdownAt) => onChange({ shutdownAt })}
        />
      </div>
      <TextField
        label="Successor"
        maxLength={256}
        hint="The id of the model to use instead."
        value={draft.successor}
        onChange={(successor) => onChange({ successor })}
      />
      <CheckboxField
        label="The successor answers after the end, at its own price"
        isChecked={draft.successorAnswers}
        onChange={(successorAnswers) => onChange({ successorAnswers })}
      />
    </fieldset>
  )
}
