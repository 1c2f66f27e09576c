import { CheckboxField } from '../../../ui/forms/checkbox-field.tsx'
import { TextArea } from '../../../ui/forms/text-area.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import type { Capability, ModelDraft } from './model-draft.ts'

interface FurtherFieldsProps {
  readonly draft: ModelDraft
  readonly onChange: (change: Partial<ModelDraft>) => void
  /** What is wrong with the JSON. */
  readonly problem: string | null
}

const CAPABILITIES = [
  'chat',
  'tool_use',
  'vision',
  'reasoning',
  'video',
  'code',
  'image_generation',
  'image_edit',
  'image_to_video',
  'text_to_video',
  'video_generation',
  'stt',
  'turkish',
  'tts',
  'text_to_speech',
  'voice_clone',
  'multilingual',
  'embedding',
  'embeddings',
  'music_generation',
] as const satisfies readonly Capability[]

/** What the model can do, who sees it, and what has no field of its own. */
export function FurtherFields({ draft, onChange, problem }: FurtherFieldsProps) {
  return (
    <>
      <fieldset className="border-t border-line pt-4">
        <legend className="float-left mb-2 text-sm font-semibold">What it can do</legend>
        <div className="clear-both grid grid-cols-2 gap-x-4 sm:grid-cols-4">
          {CAPABILITIES.map((capability) => (
            <CheckboxField
              key={capability}
              label={capability.replaceAll('_', ' ')}
              isChecked={draft.capabilities.includes(capability)}
              onChange={(isChecked) =>
                onChange({
                  capabilities: isChecked
                    ? [...draft.capabilities, capability]
                    : draft.capabilities.filter((one) => one !== capability),
                })
              }
            />
          ))}
        </div>
      </fieldset>
      <fieldset className="flex flex-col gap-4 border-t border-line pt-4">
        <legend className="float-left mb-2 text-sm font-semibold">Who sees it</legend>
        <div className="clear-both grid gap-4 sm:grid-cols-2">
          <TextField
            label="Accounts"
            placeholder="Everybody"
            hint="Ids of accounts. For others the model does not exist."
            value={draft.accounts}
            onChange={(accounts) => onChange({ accounts })}
          />
          <TextField
            label="Projects"
            placeholder="Everybody"
            hint="Ids of projects."
            value={draft.projects}
            onChange={(projects) => onChange({ projects })}
          />
        </div>
        <CheckboxField
          label="It is in the list of models"
          hint="Without this it works, but is not listed."
          isChecked={draft.isListed}
          onChange={(isListed) => onChange({ isListed })}
        />
      </fieldset>
      <TextArea
        label="Further settings, as JSON"
        isCode
        rows={3}
        spellCheck={false}
        placeholder='{"dimensions": 1536}'
        hint="released, retires, dimensions, delivery and bounds, as in the catalog file. It may be empty."
        error={problem}
        value={draft.others}
        onChange={(others) => onChange({ others })}
      />
    </>
  )
}
