import { TextField } from '../../ui/forms/text-field.tsx'

interface KeyFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly required?: boolean
}

/** A key of a vendor, or where it is read. A password manager is not asked: it would offer passwords of the person. */
export function KeyField({ label, value, onChange, required = false }: KeyFieldProps) {
  return (
    <TextField
      label={label}
      type={/^(env|file):/.test(value.trim()) ? 'text' : 'password'}
      autoComplete="off"
      data-1p-ignore
      spellCheck={false}
      required={required}
      maxLength={4096}
      placeholder="sk-…"
      hint="It is stored encrypted and never shown again. Or where it is read: env:NAME or file:/run/secrets/name."
      value={value}
      onChange={onChange}
    />
  )
}
