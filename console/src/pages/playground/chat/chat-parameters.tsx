import type { Model } from '../../../api/model-kinds.ts'
import { SelectField } from '../../../ui/forms/select-field.tsx'
import type { PlaygroundSearch } from '../playground-search.ts'
import { DraftArea } from './draft-area.tsx'
import { NumberField } from './number-field.tsx'

interface ChatParametersProps {
  readonly model: Model
  readonly search: PlaygroundSearch
  readonly onChange: (change: PlaygroundSearch) => void
}

const EFFORTS = [
  { value: '', label: 'Default of the model' },
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
]

/** Everything of a chat request that is not the conversation. */
export function ChatParameters({ model, search, onChange }: ChatParametersProps) {
  return (
    <div className="flex flex-col gap-4">
      <DraftArea
        label="System prompt"
        rows={4}
        value={search.system}
        onChange={(system) => onChange({ system })}
        placeholder="How the model should behave"
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberField
          label="Temperature"
          min={0}
          max={2}
          step={0.1}
          value={search.temperature}
          onChange={(temperature) => onChange({ temperature })}
        />
        <NumberField
          label="Top p"
          min={0}
          max={1}
          step={0.05}
          value={search.top_p}
          onChange={(top_p) => onChange({ top_p })}
        />
      </div>
      <NumberField
        label="Longest answer, tokens"
        min={1}
        max={model.max_output_tokens ?? 1_000_000}
        step={1}
        value={search.max_tokens}
        onChange={(max_tokens) => onChange({ max_tokens })}
      />
      {model.capabilities.includes('reasoning') && (
        <SelectField
          label="Reasoning effort"
          value={search.effort ?? ''}
          choices={EFFORTS}
          onChange={(effort) => onChange({ effort: effort || undefined })}
        />
      )}
      {model.capabilities.includes('tool_use') && (
        <DraftArea
          label="Tools"
          isJson
          value={search.tools}
          onChange={(tools) => onChange({ tools })}
          placeholder={TOOLS_EXAMPLE}
          hint="A JSON list of tools. You enter what they return."
        />
      )}
      <DraftArea
        label="JSON schema of the answer"
        isJson
        value={search.schema}
        onChange={(schema) => onChange({ schema })}
        placeholder={SCHEMA_EXAMPLE}
      />
    </div>
  )
}

const TOOLS_EXAMPLE = `[{"type": "function", "function": {
  "name": "get_weather",
  "parameters": {"type": "object",
    "properties": {"city": {"type": "string"}}}}}]`

const SCHEMA_EXAMPLE = `{"type": "object",
  "properties": {"name": {"type": "string"}}}`
