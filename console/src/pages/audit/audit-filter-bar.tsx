import { AUDITED_NOUNS, type OperatorAuditFilters } from '../../api/operator-audit.ts'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { DayRangeFields } from '../../ui/forms/day-range-fields.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'

interface AuditFilterBarProps {
  readonly filters: OperatorAuditFilters
  readonly total: number | undefined
  readonly onChange: (filters: OperatorAuditFilters) => void
}

const ACTIONS = [
  { value: '', label: 'Any action' },
  ...AUDITED_NOUNS.map((noun) => ({ value: noun as string, label: noun.replaceAll('_', ' ') })),
]

const TEXTS = [
  { name: 'search', label: 'Name, reason or other text' },
  { name: 'actor', label: 'Who: e-mail or id' },
  { name: 'account', label: 'Account id' },
  { name: 'target', label: 'Id of what was changed' },
] as const

/** Which entries are listed. All of it is in the address. */
export function AuditFilterBar({ filters, total, onChange }: AuditFilterBarProps) {
  const change = (next: OperatorAuditFilters): void => onChange({ ...filters, ...next })
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const { action = '' } = filters
  const actions = ACTIONS.some(({ value }) => value === action)
    ? ACTIONS
    : [...ACTIONS, { value: action, label: action }]
  return (
    <FilterBar
      count={total === undefined ? undefined : formatCountOf(total, 'action')}
      {...(isFiltered && { onClear: () => onChange({}) })}
    >
      {TEXTS.map(({ name, label }) => (
        <SearchField
          key={name}
          label={label}
          className="w-56 max-sm:w-full"
          value={filters[name] ?? ''}
          onChange={(text) => change({ [name]: text.trim() === '' ? undefined : text.trim() })}
        />
      ))}
      <SelectField
        label="Action"
        isLabelHidden
        value={action}
        choices={actions}
        onChange={(chosen) => change({ action: chosen === '' ? undefined : chosen })}
      />
      <DayRangeFields range={filters} onChange={change} />
    </FilterBar>
  )
}
