import { useQuery } from '@tanstack/react-query'
import { createDataset, datasetsQuery, uploadDataset } from '../../api/compare.ts'
import { Field } from '../../ui/forms/field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'

/** Where the prompts of a run come from. */
export interface PromptDraft {
  /** The id of a dataset, or one of the other sources. */
  readonly source: string
  readonly text: string
  readonly file: File | null
  /** Of a dataset that is made of them. */
  readonly name: string
}

const WRITTEN = ''
const FILE = 'file'

export const NO_PROMPTS: PromptDraft = { source: WRITTEN, text: '', file: null, name: '' }

interface PromptSourceProps {
  readonly draft: PromptDraft
  readonly onChange: (draft: PromptDraft) => void
}

/** A dataset, a file that becomes one, or lines. */
export function PromptSource({ draft, onChange }: PromptSourceProps) {
  const datasets = useQuery(datasetsQuery)
  return (
    <>
      <SelectField
        label="Prompts"
        value={draft.source}
        choices={[
          { value: WRITTEN, label: 'Written below' },
          { value: FILE, label: 'A file (CSV or JSON lines)' },
          ...(datasets.data ?? []).map((dataset) => ({
            value: dataset.id,
            label: `${dataset.name} (${dataset.prompts_total} prompts)`,
          })),
        ]}
        onChange={(source) => onChange({ ...draft, source })}
      />
      {draft.source === WRITTEN && (
        <TextArea
          label="One prompt a line"
          rows={5}
          value={draft.text}
          onChange={(text) => onChange({ ...draft, text })}
        />
      )}
      {draft.source === FILE && (
        <Field
          label="File"
          hint="CSV whose first line names its columns (prompt or messages, and id, system, expected), or JSON with one prompt a line."
        >
          {(control) => (
            <input
              {...control}
              type="file"
              accept=".csv,.json,.jsonl,.ndjson"
              onChange={({ target }) => onChange({ ...draft, file: target.files?.[0] ?? null })}
              className="w-full text-xs text-ink-soft file:mr-3 file:h-8 file:rounded-md file:border file:border-line-strong file:bg-surface file:px-3 file:text-sm file:text-ink"
            />
          )}
        </Field>
      )}
      {(draft.source === WRITTEN || draft.source === FILE) && (
        <TextField
          label="Keep them as a dataset named"
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
          hint={
            draft.source === FILE
              ? 'Runs of one dataset can be compared with each other. Empty: it is named like the file.'
              : 'Runs of one dataset can be compared with each other. Empty: they are not kept.'
          }
        />
      )}
    </>
  )
}

export function hasPrompts({ source, text, file }: PromptDraft): boolean {
  if (source === WRITTEN) return linesOf(text).length > 0
  return source !== FILE || file !== null
}

/** What a run would be made of, without making a dataset. Null for a file that was not sent yet. */
export function knownPrompts(draft: PromptDraft): { prompts: string[] } | { dataset_id: string } | null {
  if (draft.source === FILE || !hasPrompts(draft)) return null
  return draft.source === WRITTEN ? { prompts: linesOf(draft.text) } : { dataset_id: draft.source }
}

/** Makes the dataset, if it is a new one, and returns what a run is made of. */
export async function preparePrompts({ source, text, file, name }: PromptDraft) {
  if (source === FILE && file !== null) return { dataset_id: (await uploadDataset(file, name)).id }
  if (source !== WRITTEN) return { dataset_id: source }
  const prompts = linesOf(text)
  return name === '' ? { prompts } : { dataset_id: (await createDataset(name, prompts)).id }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}
