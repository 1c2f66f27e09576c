import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { createBatch } from '../../api/batches.ts'
import { CheckboxField } from '../../ui/forms/checkbox-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

const ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/rerank',
  '/v1/images/generations',
  '/v1/images/edits',
]
const CHOICES = ENDPOINTS.map((value) => ({ value, label: value }))
/** The first line of a file is looked for in so many bytes. */
const FIRST_BYTES = 64 * 1024

/** Makes a batch of a file of this computer. */
export function NewBatchDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [file, setFile] = useState<File | null>(null)
  const [endpoint, setEndpoint] = useState(CHOICES[0]?.value ?? '')
  const [isAsFar, setIsAsFar] = useState(false)
  const inputId = useId()
  const make = useMutation({
    mutationFn: async () => {
      if (file === null) throw new Error('no file is chosen')
      return createBatch(file, {
        endpoint,
        completion_window: '24h',
        ...(isAsFar && { run_as_far_as_credit_goes: true }),
      })
    },
    onSuccess: ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: ['batches', 'list'] })
      void navigate({ to: '/batches/$id', params: { id } })
    },
  })
  const choose = async (chosen: File | null): Promise<void> => {
    setFile(chosen)
    const found = chosen === null ? null : await readEndpoint(chosen)
    if (found !== null) setEndpoint(found)
  }
  return (
    <FormDialog
      title="New batch"
      action="Make the batch"
      failure="The batch could not be made"
      work={make}
      isIncomplete={file === null}
      onClose={onClose}
    >
      <div className="flex flex-col gap-1">
        <label htmlFor={inputId} className="text-xs font-medium text-ink-soft">
          File with one request a line
        </label>
        <input
          id={inputId}
          type="file"
          accept=".jsonl,.ndjson,.txt"
          onChange={(event) => void choose(event.target.files?.[0] ?? null)}
          className="text-sm"
        />
        <p className="text-xs text-ink-faint">
          JSON with custom_id, method, url and body; up to 50,000 lines and 200 MB.
        </p>
      </div>
      <SelectField label="What each line asks" value={endpoint} choices={CHOICES} onChange={setEndpoint} />
      <CheckboxField
        label="Run although the balance does not cover all of it"
        isChecked={isAsFar}
        onChange={setIsAsFar}
      />
    </FormDialog>
  )
}

/** The lines say what they ask. Null if the first one does not. */
async function readEndpoint(file: File): Promise<string | null> {
  const [first = ''] = (await file.slice(0, FIRST_BYTES).text()).replace(/^\uFEFF/, '').split('\n')
  return ENDPOINTS.find((path) => first.includes(`"${path}"`)) ?? null
}
