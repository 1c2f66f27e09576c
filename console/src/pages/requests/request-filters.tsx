import { useState } from 'react'
import type { AdminRequestFilters } from '../../api/admin-requests.ts'
import { PERIOD_CHOICES, REQUEST_OUTCOMES } from '../../api/requests.ts'
import { AccountField } from '../../filters/account-field.tsx'
import { ModelField, TagField, UsedValueField } from '../../filters/used-value-field.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { DayRangeFields } from '../../ui/forms/day-range-fields.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { filtersOf, readRequestsSearch } from './requests-search.ts'

interface RequestFilterBarProps {
  readonly filters: AdminRequestFilters
  readonly onChange: (filters: AdminRequestFilters) => void
}

const PICKED = {
  key: ['key', 'Key'],
  project_id: ['project', 'Project'],
  attempted_provider: ['provider', 'Called provider'],
} as const
const WRITTEN = {
  request_id: 'Request id',
  operation: 'Operation, such as chat',
  http_status: 'Status, such as 502',
  error_code: 'Error code',
  error_key: 'Same error',
  min_latency_ms: 'Took at least, in ms',
  min_cost_usd: 'Cost at least, in USD',
} as const

const WIDE = 'w-48 max-sm:w-full'

const OUTCOMES = [
  { value: '', label: 'Any outcome' },
  ...REQUEST_OUTCOMES.map((value) => ({ value, label: value })),
]

export function RequestFilterBar({ filters, onChange }: RequestFilterBarProps) {
  const more = ['account_id', 'tag', ...Object.keys(PICKED), ...Object.keys(WRITTEN)]
  const [isWide, setIsWide] = useState(more.some((name) => name in filters))
  const change = (name: string, value: string): void => {
    const { [name]: _old, ...rest }: Record<string, unknown> = { ...filters }
    onChange(filtersOf(readRequestsSearch(value.trim() === '' ? rest : { ...rest, [name]: value.trim() })))
  }
  const fieldOf = (name: string) => ({
    value: String(Reflect.get(filters, name) ?? ''),
    onChange: (value: string) => change(name, value),
  })
  return (
    <div className="flex flex-col gap-2">
      <FilterBar {...(Object.keys(filters).length > 0 && { onClear: () => onChange({}) })}>
        <SearchField label="Part of an error" className={WIDE} {...fieldOf('error')} />
        <UsedValueField
          label="Provider"
          dimension="provider"
          isOfAll
          className={WIDE}
          {...fieldOf('provider')}
        />
        <ModelField label="Model" isOfAll className={WIDE} {...fieldOf('model')} />
        <SelectField
          label="Period"
          isLabelHidden
          value={filters.period ?? ''}
          choices={PERIOD_CHOICES}
          onChange={(value) => change('period', value)}
        />
        {filters.period === 'own' && (
          <DayRangeFields range={filters} onChange={(days) => onChange({ ...filters, ...days })} />
        )}
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
          <AccountField label="Account" {...fieldOf('account_id')} />
          {Object.entries(PICKED).map(([name, [dimension, label]]) => (
            <UsedValueField key={name} label={label} dimension={dimension} isOfAll {...fieldOf(name)} />
          ))}
          <TagField label="Tag, such as team=search" isOfAll {...fieldOf('tag')} />
          {Object.entries(WRITTEN).map(([name, label]) => (
            <SearchField key={name} label={label} {...fieldOf(name)} />
          ))}
        </div>
      )}
    </div>
  )
}
