import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import { USAGE_PERIOD_LABELS, USAGE_PERIODS } from '../../api/usage.ts'
import { AccountField } from '../../filters/account-field.tsx'
import { ModelField, TagField, UsedValueField } from '../../filters/used-value-field.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { ANALYTICS_GROUPS, selectionOf, type AnalyticsSearch } from './analytics-search.ts'

interface AnalyticsFiltersProps {
  readonly search: AnalyticsSearch
  readonly onChange: (next: AnalyticsSearch) => void
}

const GROUPS: Readonly<Record<(typeof ANALYTICS_GROUPS)[number], string>> = {
  account: 'By account',
  project: 'By project',
  key: 'By key',
  model: 'By model',
  provider: 'By provider',
  region: 'By region',
  env: 'By environment',
  tag: 'By tag',
}
const PICKED = {
  project_id: ['project', 'Project'],
  key: ['key', 'Key'],
  provider: ['provider', 'Provider'],
} as const
const NO_FILTERS = {
  account_id: undefined,
  project_id: undefined,
  key: undefined,
  model: undefined,
  provider: undefined,
  env: undefined,
  tag: undefined,
} as const

export function AnalyticsFilters({ search, onChange }: AnalyticsFiltersProps) {
  const fieldOf = (name: string) => ({
    className: 'w-44 max-sm:w-full',
    value: String(Reflect.get(search, name) ?? ''),
    onChange: (value: string) => onChange({ [name]: value }),
  })
  const isFiltered = Object.keys(NO_FILTERS).some((name) => name in search)
  return (
    <FilterBar {...(isFiltered && { onClear: () => onChange(NO_FILTERS) })}>
      <SelectField
        label="Period"
        isLabelHidden
        value={selectionOf(search).period}
        choices={USAGE_PERIODS.map((value) => ({ value, label: USAGE_PERIOD_LABELS[value] }))}
        onChange={(period) => onChange({ period })}
      />
      <SelectField
        label="Groups"
        isLabelHidden
        value={search.by ?? 'account'}
        choices={ANALYTICS_GROUPS.map((value) => ({ value, label: GROUPS[value] }))}
        onChange={(by) => onChange({ by })}
      />
      {search.by === 'tag' && (
        <SearchField
          label="Name of the tag, such as team"
          className="w-56 max-sm:w-full"
          value={search.group_tag ?? ''}
          onChange={(name) => onChange({ group_tag: name.trim() })}
        />
      )}
      <AccountField label="Account" {...fieldOf('account_id')} />
      {Object.entries(PICKED).map(([name, [dimension, label]]) => (
        <UsedValueField key={name} label={label} dimension={dimension} isOfAll {...fieldOf(name)} />
      ))}
      <ModelField label="Model" isOfAll {...fieldOf('model')} />
      <TagField label="Tag, such as team=search" isOfAll {...fieldOf('tag')} />
      <SelectField
        label="Environment"
        isLabelHidden
        value={search.env ?? ''}
        choices={[
          { value: '', label: 'Any environment' },
          ...KEY_ENVIRONMENTS.map((value) => ({ value, label: value })),
        ]}
        onChange={(env) => onChange({ env: env === '' ? undefined : env })}
      />
    </FilterBar>
  )
}
