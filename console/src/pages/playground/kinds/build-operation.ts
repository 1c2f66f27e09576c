import type { Operation } from '../../../api/send-operation.ts'
import type { FormFieldSpec, KindForm } from './kind-forms.ts'

export type FormValues = Readonly<Record<string, string>>
export type FormFiles = Readonly<Record<string, Blob>>

/** Builds the request from what was entered. Empty fields are left out, so that the model decides. */
export function buildOperation(
  form: KindForm,
  model: string,
  values: FormValues,
  files: FormFiles,
): Operation {
  const members = form.fields.flatMap((field) => {
    const value = toMember(field, valueOf(field, values))
    return value === undefined ? [] : [[field.name, value]]
  })
  const { withFile } = form
  const path = withFile && files[withFile.name] ? withFile.path : form.path
  return { path, body: { model, ...Object.fromEntries(members) }, files }
}

export function valueOf({ name, initial = '' }: FormFieldSpec, values: FormValues): string {
  return values[name] ?? initial
}

/** Whether all that the request needs was entered. */
export function isComplete(form: KindForm, values: FormValues, files: FormFiles): boolean {
  return form.fields.every(
    (field) =>
      field.isRequired !== true ||
      (field.type === 'file' ? field.name in files : valueOf(field, values).trim() !== ''),
  )
}

function toMember({ type }: FormFieldSpec, text: string): unknown {
  if (type === 'file' || text.trim() === '') return undefined
  if (type === 'number') return Number(text)
  if (type === 'flag') return text === 'true'
  if (type === 'lines') return text.split('\n').filter((line) => line.trim() !== '')
  return text
}
