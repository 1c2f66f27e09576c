import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ANALYTICS_ORDERS, analyticsQuery, type AnalyticsOrder } from '../../api/analytics.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { AnalyticsChart } from './analytics-chart.tsx'
import { AnalyticsErrors } from './analytics-errors.tsx'
import { AnalyticsFilters } from './analytics-filters.tsx'
import { AnalyticsGroups } from './analytics-groups.tsx'
import {
  ANALYTICS_VIEWS,
  readAnalyticsSearch,
  selectionOf,
  type AnalyticsSearch,
} from './analytics-search.ts'
import { AnalyticsTotals } from './analytics-totals.tsx'

const route = getRouteApi('/shell/analytics')

const VIEWS = { spend: 'Spend', requests: 'Requests', tokens: 'Tokens' } as const
const ORDERS: Readonly<Record<AnalyticsOrder, string>> = {
  cost: 'Highest spend',
  requests: 'Most requests',
  tokens: 'Most tokens',
  errors: 'Most failures',
  movers: 'Top movers',
}

/** The usage of all accounts: a chart, its groups, and from each group to its requests. */
export function AnalyticsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { view = 'spend' } = search
  const selection = selectionOf(search)
  const { data, error, refetch } = useQuery(analyticsQuery(selection))
  const change = (next: AnalyticsSearch): void =>
    void navigate({ search: (old) => readAnalyticsSearch({ ...old, ...next }), replace: true })
  return (
    <Page isWide>
      <PageHeader
        title="Analytics"
        description="The usage of all accounts beside the same time before. Days and hours are those of UTC."
      />
      <AnalyticsFilters search={search} onChange={change} />
      {error && (
        <ErrorPanel title="The usage could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      <AnalyticsTotals data={data} />
      <Tabs
        label="Figures"
        value={view}
        tabs={ANALYTICS_VIEWS.map((value) => ({ value, label: VIEWS[value] }))}
        onChange={(chosen) => change({ view: chosen })}
      >
        <AnalyticsChart selection={selection} view={view} />
      </Tabs>
      <Section
        title="Groups"
        actions={
          <SelectField
            label="Order"
            isLabelHidden
            value={selection.order}
            choices={ANALYTICS_ORDERS.map((value) => ({ value, label: ORDERS[value] }))}
            onChange={(order) => change({ order })}
          />
        }
      >
        {data === undefined && !error && <SkeletonRows />}
        {data?.data.length === 0 && <EmptyState icon="usage" title="Nothing was used in this period" />}
        {data && data.data.length > 0 && (
          <AnalyticsGroups
            data={data}
            selection={selection}
            onOrder={(order = 'cost') => change({ order })}
          />
        )}
      </Section>
      {data && <AnalyticsErrors kinds={data.error_kinds} selection={selection} />}
    </Page>
  )
}
