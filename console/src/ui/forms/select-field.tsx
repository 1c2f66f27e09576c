import { classNames } from '../class-names.ts'
import { Icon } from '../icon.tsx'
import { CONTROL_CLASS, Field } from './field.tsx'

export interface Choice<Value extends string = string> {
  readonly value: Value
  readonly label: string
}

interface SelectFieldProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly choices: readonly Choice<Value>[]
  readonly onChange: (value: Value) => void
  readonly hint?: string | undefined
  readonly isLabelHidden?: boolean | undefined
  readonly disabled?: boolean | undefined
  readonly className?: string | undefined
}

/** One of a few values. The browser's own control: it suits phones, keyboards and screen readers without any script. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { label, value, choices, onChange, hint, isLabelHidden, disabled, className } = props
  return (
    <Field label={label} hint={hint} isLabelHidden={isLabelHidden} className={className}>
      {(control) => (
        <span className="relative">
          <select
            {...control}
            disabled={disabled}
            value={value}
            onChange={(event) => {
              const chosen = choices.find((choice) => choice.value === event.target.value)
              if (chosen) onChange(chosen.value)
            }}
            className={classNames(CONTROL_CLASS, 'h-8 appearance-none truncate pr-8 max-sm:h-10')}
          >
            {choices.map((choice) => (
              <option key={choice.value} value={choice.value}>
                {choice.label}
              </option>
            ))}
          </select>
          <Icon
            name="down"
            className="pointer-events-none absolute inset-y-0 right-2 my-auto text-ink-faint"
          />
        </span>
      )}
    </Field>
  )
}
