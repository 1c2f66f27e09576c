import { TextField } from './text-field.tsx'

interface DayRange {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

interface DayRangeFieldsProps {
  readonly range: DayRange
  /** The time zone of the days; UTC unless told. */
  readonly zone?: string | undefined
  /** Called with the changed end. Undefined: it was cleared. */
  readonly onChange: (changed: DayRange) => void
}

/** The first and the last day, both of them included. */
export function DayRangeFields({ range: { since, until }, zone = 'UTC', onChange }: DayRangeFieldsProps) {
  return (
    <>
      <TextField
        label={`From, in ${zone}`}
        isLabelHidden
        type="date"
        max={until}
        value={since ?? ''}
        onChange={(day) => onChange({ since: day === '' ? undefined : day })}
      />
      <span aria-hidden="true" className="text-xs text-ink-faint">
        to
      </span>
      <TextField
        label={`To, in ${zone}`}
        isLabelHidden
        type="date"
        min={since}
        value={until ?? ''}
        onChange={(day) => onChange({ until: day === '' ? undefined : day })}
      />
    </>
  )
}
