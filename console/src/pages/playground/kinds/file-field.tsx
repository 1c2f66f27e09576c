import { useEffect, useState } from 'react'
import { Field } from '../../../ui/forms/field.tsx'
import type { FormFieldSpec } from './kind-forms.ts'
import { MaskEditor } from './mask-editor.tsx'
import { Recorder } from './recorder.tsx'

interface FileFieldProps {
  readonly field: FormFieldSpec
  readonly file: Blob | undefined
  readonly onFile: (name: string, file: Blob | null) => void
}

/** A file of this computer, a recording, or a picture that can be painted over. */
export function FileField({ field, file, onFile }: FileFieldProps) {
  const address = useObjectUrl(file)
  const isPicture = field.accept === 'image/*'
  return (
    <div className="flex flex-col gap-2">
      <Field label={field.label} hint={field.hint}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept={field.accept}
            onChange={({ target }) => {
              onFile(field.name, target.files?.[0] ?? null)
              onFile('mask', null)
            }}
            className="w-full text-xs text-ink-soft file:mr-3 file:h-8 file:rounded-md file:border file:border-line-strong file:bg-surface file:px-3 file:text-sm file:text-ink"
          />
        )}
      </Field>
      {!isPicture && <Recorder onRecording={(recording) => onFile(field.name, recording)} />}
      {address && !isPicture && <audio controls src={address} className="w-full" />}
      {address && isPicture && field.isRequired && (
        <img
          src={address}
          alt="What will be sent"
          className="max-h-60 self-start rounded-md border border-line"
        />
      )}
      {address && isPicture && !field.isRequired && (
        <MaskEditor key={address} address={address} onMask={(mask) => onFile('mask', mask)} />
      )}
    </div>
  )
}

/** An address of a file in memory, given back when it is not shown any more. */
function useObjectUrl(file: Blob | undefined): string | null {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    const made = file === undefined ? null : URL.createObjectURL(file)
    // The address belongs to the browser and must be given back, which only an effect can do.
    // oxlint-disable-next-line react/set-state-in-effect
    setAddress(made)
    return () => {
      if (made !== null) URL.revokeObjectURL(made)
    }
  }, [file])
  return address
}
