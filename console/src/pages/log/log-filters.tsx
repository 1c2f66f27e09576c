import { useState } from 'react'
import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import { PERIOD_CHOICES, REQUEST_OUTCOMES } from '../../api/requests.ts'
import { ModelField, TagField, UsedValueField } from '../../filters/used-value-field.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { DayRangeFields } from '../../ui/forms/day-range-fields.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { readLogSearch, type LogSearch } from './log-search.ts'

interface LogFiltersProps {
  readonly filters: LogSearch
  readonly onChange: (filters: LogSearch) => void
  readonly count: string | undefined
}

const PICKED = {
  provider: ['provider', 'Provider that answered'],
  attempted_provider: ['provider', 'Called provider'],
  key: ['key', 'Key'],
  project_id: ['project', 'Project'],
} as const
const WRITTEN = {
  error: 'Part of an error',
  operation: 'Operation, such as chat',
  http_status: 'Status, such as 429',
  error_code: 'Error code',
  min_latency_ms: 'Took at least, in ms',
  min_cost_usd: 'Cost at least, in USD',
} as const

const anyOr = (any: string, values: readonly string[]) => [
  { value: '', label: any },
  ...values.map((value) => ({ value, label: value })),
]

export function LogFilters({ filters, onChange, count }: LogFiltersProps) {
  const hasMore = ['tag', ...Object.keys(PICKED), ...Object.keys(WRITTEN)].some((name) => name in filters)
  const [isWide, setIsWide] = useState(hasMore)
  const { request: _, ...set } = filters
  const change = (name: string, value: string): void => {
    const { [name]: _old, ...rest }: Record<string, unknown> = { ...set }
    onChange(readLogSearch(value.trim() === '' ? rest : { ...rest, [name]: value.trim() }))
  }
  return (
    <div className="flex flex-col gap-2">
      <FilterBar count={count} {...(Object.keys(set).length > 0 && { onClear: () => onChange({}) })}>
        <SearchField
          label="Request id"
          className="w-56 max-sm:w-full"
          value={filters.request_id ?? ''}
          onChange={(value) => change('request_id', value)}
        />
        <ModelField
          label="Model"
          className="w-52 max-sm:w-full"
          isOfAll={false}
          value={filters.model ?? ''}
          onChange={(value) => change('model', value)}
        />
        <SelectField
          label="Period"
          isLabelHidden
          value={filters.period ?? ''}
          choices={PERIOD_CHOICES}
          onChange={(value) => change('period', value)}
        />
        {filters.period === 'own' && (
          <DayRangeFields range={filters} onChange={(days) => onChange({ ...set, ...days })} />
        )}
        <SelectField
          label="Outcome"
          isLabelHidden
          value={filters.outcome ?? ''}
          choices={anyOr('Any outcome', REQUEST_OUTCOMES)}
          onChange={(value) => change('outcome', value)}
        />
        <SelectField
          label="Environment"
          isLabelHidden
          value={filters.env ?? ''}
          choices={anyOr('Any environment', KEY_ENVIRONMENTS)}
          onChange={(value) => change('env', value)}
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
          {Object.entries(PICKED).map(([name, [dimension, label]]) => (
            <UsedValueField
              key={name}
              label={label}
              dimension={dimension}
              isOfAll={false}
              value={String(Reflect.get(filters, name) ?? '')}
              onChange={(value) => change(name, value)}
            />
          ))}
          <TagField
            label="Tag, such as team=search"
            isOfAll={false}
            value={filters.tag ?? ''}
            onChange={(value) => change('tag', value)}
          />
          {Object.entries(WRITTEN).map(([name, label]) => (
            <SearchField
              key={name}
              label={label}
              value={String(Reflect.get(filters, name) ?? '')}
              onChange={(value) => change(name, value)}
            />
          ))}
        </div>
      )}
    </div>
  )
}
