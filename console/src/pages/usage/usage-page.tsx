import { getRouteApi } from '@tanstack/react-router'
import { useReach } from '../../api/permissions.ts'
import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import {
  CALENDAR_PERIOD_LABELS,
  CALENDAR_PERIODS,
  isOfCalendar,
  USAGE_PERIOD_LABELS,
  USAGE_PERIODS,
} from '../../api/usage.ts'
import { ModelField, TagField, UsedValueField } from '../../filters/used-value-field.tsx'
import { DayRangeFields } from '../../ui/forms/day-range-fields.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { UsageLatency } from './usage-latency.tsx'
import { UsageOverTime } from './usage-over-time.tsx'
import { readUsageSearch, selectionOf, USAGE_GROUPS, USAGE_VIEWS, type UsageSearch } from './usage-search.ts'
import { UsageTotals } from './usage-totals.tsx'
import { ZoneChoice } from './zone-choice.tsx'

const route = getRouteApi('/shell/usage')

const GROUPS: Readonly<Record<(typeof USAGE_GROUPS)[number], string>> = {
  model: 'By model',
  key: 'By key',
  provider: 'By provider',
  env: 'By environment',
  tag: 'By tag',
}
const VIEWS = { spend: 'Spend', requests: 'Requests', tokens: 'Tokens', latency: 'Latency' } as const

const NO_FILTERS = {
  model: undefined,
  provider: undefined,
  env: undefined,
  key: undefined,
  tag: undefined,
  project_id: undefined,
} as const

const PERIODS = [
  ...USAGE_PERIODS.map((value) => ({ value, label: USAGE_PERIOD_LABELS[value] })),
  ...CALENDAR_PERIODS.map((value) => ({ value, label: CALENDAR_PERIOD_LABELS[value] })),
  { value: 'own' as const, label: 'From a day to a day' },
]

export function UsagePage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const reach = useReach('usage.read')
  const { view = 'spend' } = search
  const selection = selectionOf(search)
  const { model, provider, env, key, tag, project_id: project } = search
  const isFiltered = [model, provider, env, key, tag, project].some(Boolean)
  const change = (next: UsageSearch): void =>
    void navigate({ search: (old) => readUsageSearch({ ...old, ...next }), replace: true })
  return (
    <Page>
      <PageHeader
        title="Usage"
        description={`What this ${reach} used and what it cost. Days and hours of charts are those of UTC.`}
      />
      <FilterBar
        {...(isFiltered && {
          onClear: () => change(NO_FILTERS),
        })}
      >
        <SelectField
          label="Period"
          isLabelHidden
          value={selection.period}
          choices={PERIODS}
          onChange={(period) => change({ period })}
        />
        {selection.period === 'own' && <DayRangeFields range={search} zone={search.zone} onChange={change} />}
        {(selection.period === 'own' || isOfCalendar(selection.period)) && (
          <ZoneChoice zone={search.zone} onChange={(zone) => change({ zone })} />
        )}
        <SelectField
          label="Groups"
          isLabelHidden
          value={search.by ?? 'model'}
          choices={USAGE_GROUPS.map((value) => ({ value, label: GROUPS[value] }))}
          onChange={(by) => change({ by })}
        />
        {search.by === 'tag' && (
          <SearchField
            label="Name of the tag, such as team"
            className="w-56 max-sm:w-full"
            value={search.group_tag ?? ''}
            onChange={(name) => change({ group_tag: name.trim() })}
          />
        )}
        <ModelField
          label="Model"
          className="w-52 max-sm:w-full"
          isOfAll={false}
          value={model ?? ''}
          onChange={(chosen) => change({ model: chosen })}
        />
        <UsedValueField
          label="Provider"
          dimension="provider"
          className="w-40 max-sm:w-full"
          isOfAll={false}
          value={provider ?? ''}
          onChange={(chosen) => change({ provider: chosen })}
        />
        <UsedValueField
          label="Key"
          dimension="key"
          className="w-40 max-sm:w-full"
          isOfAll={false}
          value={key ?? ''}
          onChange={(chosen) => change({ key: chosen })}
        />
        <TagField
          label="Tag, such as team=search"
          className="w-52 max-sm:w-full"
          isOfAll={false}
          value={tag ?? ''}
          onChange={(chosen) => change({ tag: chosen })}
        />
        <SelectField
          label="Environment"
          isLabelHidden
          value={search.env ?? ''}
          choices={[
            { value: '', label: 'Any environment' },
            ...KEY_ENVIRONMENTS.map((value) => ({ value, label: value })),
          ]}
          onChange={(env) => change({ env: env === '' ? undefined : env })}
        />
      </FilterBar>
      <UsageTotals selection={selection} />
      <Tabs
        label="Figures"
        value={view}
        tabs={USAGE_VIEWS.map((value) => ({ value, label: VIEWS[value] }))}
        onChange={(chosen) => change({ view: chosen })}
      >
        {view === 'latency' ? (
          <>
            {(search.tag || search.by === 'tag') && (
              <p className="pb-4 text-sm text-ink-soft">
                Latency is not measured by tag: this is that of all requests.
              </p>
            )}
            <UsageLatency selection={selection} />
          </>
        ) : (
          <UsageOverTime selection={selection} view={view} />
        )}
      </Tabs>
    </Page>
  )
}
