import type { CompareRun } from '../../api/compare.ts'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { useChatModels } from './model-lanes.tsx'

/** A lane as it is entered. Empty fields are left to the model. */
export interface LaneDraft {
  readonly model: string
  readonly temperature: string
  readonly system: string
  /** Of a lane that is asked again. */
  readonly name?: string
  /** Its other parameters. */
  readonly others?: Readonly<Record<string, unknown>>
}

interface LaneDraftsProps {
  readonly lanes: readonly LaneDraft[]
  readonly onChange: (lanes: readonly LaneDraft[]) => void
}

const LANES_MIN = 2
const LANES_MAX = 10

/** The lanes of a run. One model may have several, with different parameters. */
export function LaneDrafts({ lanes, onChange }: LaneDraftsProps) {
  const choices = useChatModels()
  const change = (index: number, changed: Partial<LaneDraft>): void =>
    onChange(lanes.map((lane, at) => (at === index ? { ...lane, ...changed } : lane)))
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-xs font-medium text-ink-soft">
        Lanes: model, temperature, system prompt
      </legend>
      {lanes.map((lane, index) => (
        <div key={index} className="flex items-center gap-2 max-sm:flex-wrap">
          <SelectField
            label={`Model ${index + 1}`}
            isLabelHidden
            value={lane.model}
            choices={choices}
            onChange={(model) => change(index, { model, name: '' })}
            className="w-52 shrink-0 max-sm:grow"
          />
          <TextField
            label={`Temperature ${index + 1}`}
            isLabelHidden
            inputMode="decimal"
            placeholder="default"
            value={lane.temperature}
            onChange={(temperature) => change(index, { temperature })}
            className="w-20 shrink-0"
          />
          <TextField
            label={`System prompt ${index + 1}`}
            isLabelHidden
            placeholder="none"
            value={lane.system}
            onChange={(system) => change(index, { system })}
            className="min-w-0 grow"
          />
          {lanes.length > LANES_MIN && (
            <IconButton
              icon="close"
              label={`Remove lane ${index + 1}`}
              onClick={() => onChange(lanes.toSpliced(index, 1))}
            />
          )}
        </div>
      ))}
      {lanes.length < LANES_MAX && (
        <div>
          <Button
            icon="plus"
            onClick={() => onChange([...lanes, newLane(choices[lanes.length % choices.length]?.value ?? '')])}
          >
            Add a lane
          </Button>
        </div>
      )}
    </fieldset>
  )
}

export const newLane = (model: string): LaneDraft => ({ model, temperature: '', system: '' })

/** A lane of an earlier run, to be changed. */
export function toDraft({ model, name, params }: CompareRun['lanes'][number]): LaneDraft {
  const { temperature, system, ...others } = params
  return {
    model,
    name: name === model ? '' : name,
    temperature: typeof temperature === 'number' ? String(temperature) : '',
    system: typeof system === 'string' ? system : '',
    others,
  }
}

/** As the API takes it. */
export function toLane({ model, name = '', temperature, system, others }: LaneDraft) {
  return {
    ...others,
    model,
    ...(name !== '' && { name }),
    ...(temperature.trim() !== '' && { temperature: Number(temperature) }),
    ...(system.trim() !== '' && { system }),
  }
}
