import { useEffect, useState } from 'react'
import { Icon } from '../icon.tsx'
import { CONTROL_CLASS, Field } from './field.tsx'
import { classNames } from '../class-names.ts'

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  /** Called a moment after the last key, so that typing does not send a request per letter. */
  readonly onChange: (value: string) => void
  readonly className?: string | undefined
}

const PAUSE_MS = 250

/** A filter by text. */
export function SearchField({ label, value, onChange, className }: SearchFieldProps) {
  const [draft, setDraft] = useState(value)
  const [known, setKnown] = useState(value)
  // The value also changes by going back, or by clearing all filters.
  if (known !== value) {
    setKnown(value)
    setDraft(value)
  }
  useEffect(() => {
    if (draft === value) return
    const timer = setTimeout(() => onChange(draft), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [draft, value, onChange])
  return (
    <Field label={label} isLabelHidden className={className}>
      {(control) => (
        <span className="relative">
          <Icon
            name="search"
            className="pointer-events-none absolute inset-y-0 left-2 my-auto text-ink-faint"
          />
          <input
            type="search"
            {...control}
            placeholder={label}
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
            className={classNames(CONTROL_CLASS, 'h-8 pl-8 max-sm:h-10')}
          />
        </span>
      )}
    </Field>
  )
}
