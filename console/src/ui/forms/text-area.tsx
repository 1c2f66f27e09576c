import type { ComponentPropsWithRef, ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { CONTROL_CLASS, Field } from './field.tsx'

interface TextAreaProps extends Omit<ComponentPropsWithRef<'textarea'>, 'onChange' | 'value'> {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: ReactNode
  readonly error?: string | null | undefined
  readonly isLabelHidden?: boolean | undefined
  readonly isCode?: boolean | undefined
}

/** A text of several lines that grows with what is entered, up to a limit. */
export function TextArea(props: TextAreaProps) {
  const { label, value, onChange, hint, error, isLabelHidden, isCode, className, ...rest } = props
  return (
    <Field label={label} hint={hint} error={error} isLabelHidden={isLabelHidden} className={className}>
      {(control) => (
        <textarea
          rows={3}
          {...rest}
          {...control}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={classNames(
            CONTROL_CLASS,
            'field-sizing-content max-h-80 resize-y py-1.5',
            isCode && 'font-mono text-xs',
          )}
        />
      )}
    </Field>
  )
}
