import { useQuery } from '@tanstack/react-query'
import { modelsQuery } from '../../api/models.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'

interface ModelLanesProps {
  readonly models: readonly string[]
  readonly onChange: (models: readonly string[]) => void
  readonly countMax: number
}

const COUNT_MIN = 2

/** The models that are compared, two at least. */
export function ModelLanes({ models, onChange, countMax }: ModelLanesProps) {
  const choices = useChatModels()
  const { error, refetch } = useQuery(modelsQuery)
  if (error && choices.length === 0)
    return <ErrorPanel title="Models could not be loaded" error={error} onRetry={() => void refetch()} />
  return (
    <fieldset className="flex flex-wrap items-end gap-3">
      <legend className="mb-1 text-xs font-medium text-ink-soft">Models</legend>
      {models.map((model, index) => (
        <div key={index} className="flex items-center">
          <SelectField
            label={`Model ${index + 1}`}
            isLabelHidden
            value={model}
            choices={choices}
            onChange={(chosen) => onChange(models.with(index, chosen))}
            className="w-52"
          />
          {models.length > COUNT_MIN && (
            <IconButton
              icon="close"
              label={`Remove model ${index + 1}`}
              onClick={() => onChange(models.toSpliced(index, 1))}
            />
          )}
        </div>
      ))}
      {models.length < countMax && (
        <Button
          icon="plus"
          onClick={() => onChange([...models, (choices[models.length] ?? choices[0])?.value ?? ''])}
        >
          Add a model
        </Button>
      )}
    </fieldset>
  )
}

/** The chat models of the key, as choices. */
export function useChatModels() {
  const { data = [] } = useQuery(modelsQuery)
  return data
    .filter(({ category, is_ready: isReady }) => category === 'llm' && isReady)
    .map(({ id, display_name: label }) => ({ value: id, label }))
}
