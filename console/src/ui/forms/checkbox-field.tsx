import { useId, type ReactNode } from 'react'

interface CheckboxFieldProps {
  readonly label: ReactNode
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
  readonly hint?: string | undefined
  readonly disabled?: boolean | undefined
}

/** One of several things that can be chosen together. */
export function CheckboxField({ label, isChecked, onChange, hint, disabled }: CheckboxFieldProps) {
  const id = useId()
  return (
    <div className="flex items-start gap-2.5 py-0.5">
      <input
        type="checkbox"
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        checked={isChecked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent disabled:opacity-50"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm break-words">
          {label}
        </label>
        {hint && (
          <p id={`${id}-hint`} className="text-xs text-ink-faint">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
