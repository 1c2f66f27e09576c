import { useId, type ReactNode } from 'react'
import { classNames } from '../class-names.ts'

interface FieldProps {
  readonly label: string
  /** What to enter, below the control. */
  readonly hint?: ReactNode
  readonly error?: string | null | undefined
  readonly isLabelHidden?: boolean | undefined
  readonly className?: string | undefined
  /** Gets the id and description of the control. */
  readonly children: (control: FieldControl) => ReactNode
}

interface FieldControl {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

/** A label, a control, and what belongs to it: a hint or what is wrong. */
export function Field({ label, hint, error, isLabelHidden, className, children }: FieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  const note = error ?? hint
  const hasNote = note !== undefined && note !== null
  return (
    <div className={classNames('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'text-xs font-medium text-ink-soft'}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': hasNote ? noteId : undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {hasNote && (
        <p
          id={noteId}
          role={error ? 'alert' : undefined}
          className={classNames('text-xs', error ? 'text-bad' : 'text-ink-faint')}
        >
          {note}
        </p>
      )}
    </div>
  )
}

/** The look of a control that takes text. */
export const CONTROL_CLASS =
  'w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-sm text-ink placeholder:text-ink-faint hover:border-ink-faint focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-bad max-sm:text-base'
