import { SelectField } from '../../../ui/forms/select-field.tsx'
import { SwitchField } from '../../../ui/forms/switch-field.tsx'
import { TextArea } from '../../../ui/forms/text-area.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import type { FormFiles } from './build-operation.ts'
import { FileField } from './file-field.tsx'
import type { FormFieldSpec } from './kind-forms.ts'

interface FormFieldProps {
  readonly field: FormFieldSpec
  readonly value: string
  readonly files: FormFiles
  readonly onChange: (value: string) => void
  readonly onFile: (name: string, file: Blob | null) => void
}

/** The control that fits a field. */
export function FormField({ field, value, files, onChange, onFile }: FormFieldProps) {
  const { label, type, hint, isRequired } = field
  switch (type) {
    case 'file':
      return <FileField field={field} file={files[field.name]} onFile={onFile} />
    case 'area':
    case 'lines':
      return (
        <TextArea
          label={label}
          hint={hint}
          required={isRequired}
          rows={4}
          value={value}
          onChange={onChange}
        />
      )
    case 'choice':
      return (
        <SelectField
          label={label}
          hint={hint}
          value={value}
          choices={(field.choices ?? []).map((choice) => ({
            value: choice,
            label: choice || 'Default of the model',
          }))}
          onChange={onChange}
        />
      )
    case 'flag':
      return (
        <SwitchField
          label={label}
          isOn={value === 'true'}
          onChange={(isOn) => onChange(isOn ? 'true' : '')}
        />
      )
    case 'number':
    case 'text':
      return (
        <TextField
          label={label}
          hint={hint}
          required={isRequired}
          type={type}
          {...(type === 'number' && { step: 'any', placeholder: 'default' })}
          value={value}
          onChange={onChange}
        />
      )
  }
}
