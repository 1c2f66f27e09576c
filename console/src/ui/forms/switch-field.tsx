import { Switch } from '@base-ui/react/switch'
import { useId } from 'react'

interface SwitchFieldProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly hint?: string | undefined
}

/** Turns one thing on or off, at once. */
export function SwitchField({ label, isOn, onChange, hint }: SwitchFieldProps) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm">
          {label}
        </label>
        {hint && <p className="text-xs text-ink-faint">{hint}</p>}
      </div>
      <Switch.Root
        id={id}
        checked={isOn}
        onCheckedChange={onChange}
        className="relative h-5 w-9 shrink-0 rounded-full bg-line-strong transition-colors data-checked:bg-accent"
      >
        <Switch.Thumb className="block size-4 translate-x-0.5 rounded-full bg-surface transition-transform data-checked:translate-x-4.5" />
      </Switch.Root>
    </div>
  )
}
