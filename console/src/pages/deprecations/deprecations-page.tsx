import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { deprecationsQuery, type Deprecation } from '../../api/deprecations.ts'
import { USE_DAYS } from '../../api/use-days.ts'
import { EndingState } from '../../deprecations/end-of-model.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCount, formatCountOf } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { DeprecationSheet } from './deprecation-sheet.tsx'

const route = getRouteApi('/shell/deprecations')

/** Models that end, and who still uses them. */
export function DeprecationsPage() {
  const { days = 30, all = false, model: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const models = useInfiniteQuery(deprecationsQuery({ days, all }))
  const open = ({ id }: Deprecation): void =>
    void navigate({ search: (old) => ({ ...old, model: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, model: undefined }), replace: true }),
  )
  const opened = models.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openedId)
  return (
    <Page>
      <PageHeader
        title="Deprecations"
        description="Models that are deprecated, or will be or end within 90 days, and who still uses them. The next one to end comes first."
      />
      <FilterBar count={models.data && formatCountOf(models.data.pages[0]?.total ?? 0, 'model')}>
        <SelectField
          label="Which models"
          isLabelHidden
          value={all ? 'all' : 'used'}
          choices={[
            { value: 'used', label: 'Models in use' },
            { value: 'all', label: 'All models that end' },
          ]}
          onChange={(which) =>
            void navigate({
              search: (old) => ({ ...old, all: which === 'all' ? true : undefined }),
              replace: true,
            })
          }
        />
        <SelectField
          label="Period"
          isLabelHidden
          value={String(days)}
          choices={USE_DAYS.map((count) => ({ value: String(count), label: `The last ${count} days` }))}
          onChange={(count) =>
            void navigate({
              search: (old) => ({ ...old, days: USE_DAYS.find((one) => String(one) === count) }),
              replace: true,
            })
          }
        />
      </FilterBar>
      <PagedTable
        label="Models"
        tools={{ id: 'models' }}
        query={models}
        columns={columnsOf(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          <EmptyState icon="model" title={all ? 'No model ends soon' : 'Nobody uses a model that ends'}>
            {all
              ? 'Set when a model is deprecated and when it ends on the page Models and prices.'
              : 'Models that end without anybody using them are in the list of all models that end.'}
          </EmptyState>
        }
      />
      {opened && <DeprecationSheet model={opened} days={days} onClose={close} />}
    </Page>
  )
}

function columnsOf(onOpen: (model: Deprecation) => void): Column<Deprecation>[] {
  return [
    {
      id: 'model',
      header: 'Model',
      value: ({ id }) => id,
      render: (model) => <RowLink onOpen={() => onOpen(model)}>{model.id}</RowLink>,
    },
    {
      id: 'state',
      header: 'State',
      value: ({ state }) => state,
      width: '112px',
      render: (model) => <EndingState model={model} />,
    },
    {
      id: 'end',
      header: 'Ends',
      value: ({ shutdown_at: at }) => at,
      width: '120px',
      render: ({ shutdown_at: at }) =>
        at === null ? <span className="text-ink-faint">not known</span> : <Time at={at} />,
    },
    {
      id: 'successor',
      header: 'Use instead',
      value: ({ successor }) => successor,
      width: '18%',
      isMinor: true,
      render: ({ successor }) => successor ?? <span className="text-ink-faint">none named</span>,
    },
    {
      id: 'keys',
      header: 'Accounts · keys',
      value: ({ keys_count: count }) => count,
      width: '128px',
      align: 'right',
      isMinor: true,
      render: ({ accounts_count: accounts, keys_count: keys }) =>
        `${formatCount(accounts)} · ${formatCount(keys)}`,
    },
    {
      id: 'requests',
      header: 'Requests',
      value: ({ requests }) => requests,
      width: '96px',
      align: 'right',
      render: ({ requests }) => formatCount(requests),
    },
    {
      id: 'cost',
      header: 'Spend',
      value: ({ cost_usd: usd }) => usd,
      width: '96px',
      align: 'right',
      isMinor: true,
      render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
    },
    {
      id: 'last',
      header: 'Last hour of use',
      value: ({ last_used_at: at }) => at,
      width: '132px',
      isMinor: true,
      render: ({ last_used_at: at }) => <Time at={at} form="short" />,
    },
  ]
}
