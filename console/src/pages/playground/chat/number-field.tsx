import { TextField } from '../../../ui/forms/text-field.tsx'

interface NumberFieldProps {
  readonly label: string
  readonly value: number | undefined
  readonly min: number
  readonly max: number
  readonly step: number
  readonly onChange: (value: number | undefined) => void
}

/** A number that may be left out, so that the model decides. */
export function NumberField({ label, value, min, max, step, onChange }: NumberFieldProps) {
  return (
    <TextField
      label={label}
      type="number"
      inputMode="decimal"
      min={min}
      max={max}
      step={step}
      placeholder="default"
      value={value === undefined ? '' : String(value)}
      onChange={(text) => {
        const number = Number(text)
        onChange(text === '' || !Number.isFinite(number) ? undefined : Math.min(max, Math.max(min, number)))
      }}
    />
  )
}
