import { useState } from 'react'
import type { AdminRequestFilters } from '../../api/admin-requests.ts'
import { REQUEST_OUTCOMES } from '../../api/requests.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { filtersOf, PERIOD_CHOICES, readRequestsSearch } from './requests-search.ts'

interface RequestFilterBarProps {
  readonly filters: AdminRequestFilters
  readonly onChange: (filters: AdminRequestFilters) => void
}

const FIRST = { error: 'Part of an error', provider: 'Provider', model: 'Model' } as const
const MORE = {
  account_id: 'Account id',
  key: 'Key id',
  request_id: 'Request id',
  attempted_provider: 'Called provider',
  tag: 'Tag, such as team=search',
  operation: 'Operation, such as chat',
  http_status: 'Status, such as 502',
  error_code: 'Error code',
  error_key: 'Same error',
  min_latency_ms: 'Took at least, in ms',
  min_cost_usd: 'Cost at least, in USD',
} as const

const OUTCOMES = [
  { value: '', label: 'Any outcome' },
  ...REQUEST_OUTCOMES.map((value) => ({ value, label: value })),
]

export function RequestFilterBar({ filters, onChange }: RequestFilterBarProps) {
  const [isWide, setIsWide] = useState(Object.keys(MORE).some((name) => name in filters))
  const change = (name: string, value: string): void => {
    const { [name]: _old, ...rest }: Record<string, unknown> = { ...filters }
    onChange(filtersOf(readRequestsSearch(value.trim() === '' ? rest : { ...rest, [name]: value.trim() })))
  }
  const field = ([name, label]: readonly [string, string], className = '') => (
    <SearchField
      key={name}
      label={label}
      className={className}
      value={String(Reflect.get(filters, name) ?? '')}
      onChange={(value) => change(name, value)}
    />
  )
  return (
    <div className="flex flex-col gap-2">
      <FilterBar {...(Object.keys(filters).length > 0 && { onClear: () => onChange({}) })}>
        {Object.entries(FIRST).map((entry) => field(entry, 'w-48 max-sm:w-full'))}
        <SelectField
          label="Period"
          isLabelHidden
          value={filters.period ?? ''}
          choices={PERIOD_CHOICES}
          onChange={(value) => change('period', value)}
        />
        <SelectField
          label="Outcome"
          isLabelHidden
          value={filters.outcome ?? ''}
          choices={OUTCOMES}
          onChange={(value) => change('outcome', value)}
        />
        <Button
          kind="quiet"
          icon={isWide ? 'up' : 'down'}
          aria-expanded={isWide}
          onClick={() => setIsWide(!isWide)}
        >
          {isWide ? 'Fewer filters' : 'More filters'}
        </Button>
      </FilterBar>
      {isWide && (
        <div className="grid grid-cols-2 gap-2 md:grid-cols-4 xl:grid-cols-5">
          {Object.entries(MORE).map((entry) => field(entry))}
        </div>
      )}
    </div>
  )
}
