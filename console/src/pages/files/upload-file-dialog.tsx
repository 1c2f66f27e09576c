import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { beginUpload, completeUpload, sendPart, type FilePurpose } from '../../api/files.ts'
import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { sentPartsOf } from './sent-parts-of-file.ts'
import { uploadInParts } from './upload-in-parts.ts'

const PURPOSES: readonly { readonly value: FilePurpose; readonly label: string }[] = [
  { value: 'user_data', label: 'user_data: named by requests' },
  { value: 'vision', label: 'vision: pictures named by requests' },
  { value: 'batch', label: 'batch: one request a line' },
  { value: 'evals', label: 'evals' },
  { value: 'assistants', label: 'assistants' },
  { value: 'fine-tune', label: 'fine-tune' },
]

const DAY_SECONDS = 86_400
const KEPT = [
  { value: '', label: 'when somebody deletes it' },
  { value: '1', label: 'after a day' },
  { value: '7', label: 'after 7 days' },
  { value: '30', label: 'after 30 days' },
]

/** Uploads a file of this computer in parts. */
export function UploadFileDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const [purpose, setPurpose] = useState<FilePurpose>('user_data')
  const [kept, setKept] = useState('')
  const [percent, setPercent] = useState<number | null>(null)
  const [startedAtMs, setStartedAtMs] = useState<number | null>(null)
  const leaving = useRef(new AbortController())
  const inputId = useId()
  useEffect(() => {
    const controller = new AbortController()
    leaving.current = controller
    return () => controller.abort()
  }, [])
  const upload = useMutation({
    mutationFn: async () => {
      if (file === null) throw new Error('no file is chosen')
      setStartedAtMs(Date.now())
      const { signal } = leaving.current
      const expiresSeconds = kept === '' ? null : Number(kept) * DAY_SECONDS
      const { read, keep } = sentPartsOf(file, `${purpose}.${kept}`)
      await uploadInParts(file, read(), {
        begin: () => beginUpload(file, purpose, expiresSeconds),
        send: (uploadId, part) => sendPart(uploadId, part, signal),
        complete: completeUpload,
        keep,
        wait: async (ms) => {
          // The dialog was closed. What was sent is kept for the next time.
          signal.throwIfAborted()
          await new Promise((resolve) => setTimeout(resolve, ms))
        },
        onProgress: setPercent,
        isFinal: (error) => error instanceof ApiError && isRefusal(error.status),
        nowMs: () => Date.now(),
      })
    },
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ['files', 'list'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="Upload a file"
      action="Upload"
      failure="The file could not be uploaded"
      work={upload}
      isIncomplete={file === null}
      onClose={onClose}
    >
      <div className="flex flex-col gap-1">
        <label htmlFor={inputId} className="text-xs font-medium text-ink-soft">
          File
        </label>
        <input
          id={inputId}
          type="file"
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
          className="text-sm"
        />
        <p className="text-xs text-ink-faint">
          Up to 8 GB, or 200 MB for a batch. After a lost connection or a reload, choose the same file again
          within an hour: what was sent is not sent again.
        </p>
      </div>
      <SelectField
        label="Purpose"
        value={purpose}
        choices={PURPOSES}
        onChange={(value) => setPurpose(PURPOSES.find((one) => one.value === value)?.value ?? 'user_data')}
      />
      <SelectField
        label="Deleted"
        value={kept}
        choices={KEPT}
        onChange={setKept}
        hint="A batch that is to read it then fails."
      />
      {file !== null && percent !== null && (
        <ProgressBar label={file.name} percent={percent} startedAtMs={startedAtMs} />
      )}
    </FormDialog>
  )
}

/** Another try would be refused too. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429
