import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { modelsQuery } from '../api/models.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton.tsx'
import { CheckboxField } from '../ui/forms/checkbox-field.tsx'
import { TextField } from '../ui/forms/text-field.tsx'

interface ModelChoiceProps {
  /** Null: every model. */
  readonly chosen: readonly string[] | null
  readonly onChange: (chosen: readonly string[] | null) => void
}

const SHOWN_MAX = 100

/** Every model, or only some. */
export function ModelChoice({ chosen, onChange }: ModelChoiceProps) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-xs font-medium text-ink-soft">Models</legend>
      <CheckboxField
        label="Every model"
        isChecked={chosen === null}
        onChange={(isEvery) => onChange(isEvery ? null : [])}
      />
      {chosen !== null && <ModelChecklist chosen={chosen} onChange={onChange} />}
    </fieldset>
  )
}

/** Models to be ticked, with a search. */
export function ModelChecklist({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}) {
  const models = useQuery(modelsQuery)
  const [words, setWords] = useState('')
  // A key may name a model that has left the catalog.
  const ids = [...new Set([...chosen, ...(models.data ?? []).map(({ id }) => id)])]
  const found = ids.filter((id) => id.toLowerCase().includes(words.trim().toLowerCase()))
  return (
    <div className="flex flex-col gap-2">
      <TextField
        label="Find a model"
        isLabelHidden
        placeholder="Find a model"
        value={words}
        onChange={setWords}
      />
      {models.isPending && <SkeletonRows count={3} />}
      {models.error && <ErrorPanel title="Models could not be loaded" error={models.error} />}
      <div
        tabIndex={0}
        role="group"
        aria-label="Allowed models"
        className="max-h-48 overflow-y-auto rounded-md border border-line px-3 py-2"
      >
        {found.slice(0, SHOWN_MAX).map((id) => (
          <CheckboxField
            key={id}
            label={<span className="font-mono text-xs">{id}</span>}
            isChecked={chosen.includes(id)}
            onChange={(isChecked) =>
              onChange(isChecked ? [...chosen, id] : chosen.filter((other) => other !== id))
            }
          />
        ))}
        {found.length === 0 && <p className="text-xs text-ink-faint">No model has this name.</p>}
      </div>
      <p className="text-xs text-ink-faint">
        {chosen.length} chosen
        {found.length > SHOWN_MAX && ` · the first ${SHOWN_MAX} of ${found.length} are shown`}
      </p>
    </div>
  )
}
