import type { ComponentPropsWithRef, ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { CONTROL_CLASS, Field } from './field.tsx'

interface TextFieldProps extends Omit<ComponentPropsWithRef<'input'>, 'onChange' | 'value'> {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: ReactNode
  readonly error?: string | null | undefined
  readonly isLabelHidden?: boolean | undefined
}

export function TextField({
  label,
  value,
  onChange,
  hint,
  error,
  isLabelHidden,
  className,
  ...rest
}: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} isLabelHidden={isLabelHidden} className={className}>
      {(control) => (
        <input
          type="text"
          {...rest}
          {...control}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={classNames(CONTROL_CLASS, 'h-8 max-sm:h-10')}
        />
      )}
    </Field>
  )
}
