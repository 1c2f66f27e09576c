import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Permitted } from '../../ui/permitted.tsx'
import { deploymentListQuery, type Deployment } from '../../api/deployment.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { nextPages } from '../../ui/data/next-pages.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { DeploymentState } from '../../ui/text/deployment-state.tsx'
import { Time } from '../../ui/text/time.tsx'
import { readDeploymentsSearch, SHOWN_STATUSES } from './deployments-search.ts'

const route = getRouteApi('/shell/deployments')
const CHOICES = [
  { value: '', label: 'Any state' },
  ...SHOWN_STATUSES.map((value) => ({ value, label: value })),
]

export function DeploymentsPage() {
  const { status } = route.useSearch()
  const navigate = useNavigate()
  const deployments = useInfiniteQuery(deploymentListQuery(status))
  const rows = deployments.data?.pages.flatMap(({ data }) => data) ?? []
  const filter = (value: string) =>
    void navigate({ to: '/deployments', search: readDeploymentsSearch({ status: value }) })
  return (
    <Page>
      <PageHeader
        title="Deployments"
        description="Models of the hub on a GPU of your own, billed by the second while they run."
        actions={
          <Permitted permission="deployments.manage">
            <Link to="/deployments/new" className={buttonClass('primary')}>
              <Icon name="plus" />
              New deployment
            </Link>
          </Permitted>
        }
      />
      {(rows.length > 0 || status !== undefined) && (
        <FilterBar onClear={status === undefined ? undefined : () => filter('')}>
          <SelectField
            label="State"
            isLabelHidden
            value={status ?? ''}
            choices={CHOICES}
            onChange={filter}
            className="w-40"
          />
        </FilterBar>
      )}
      {deployments.isPending && <SkeletonRows />}
      {deployments.error && (
        <ErrorPanel
          title="Deployments could not be loaded"
          error={deployments.error}
          onRetry={() => void deployments.refetch()}
        />
      )}
      {rows.length > 0 && (
        <DataTable
          label="Deployments"
          tools={{ id: 'deployments' }}
          columns={COLUMNS}
          rows={rows}
          rowId={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/deployments/$id', params: { id } })}
          {...nextPages(deployments)}
        />
      )}
      {deployments.isSuccess && rows.length === 0 && (
        <Nothing isFiltered={status !== undefined} onClear={() => filter('')} />
      )}
    </Page>
  )
}

function Nothing({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  if (isFiltered)
    return (
      <EmptyState
        icon="search"
        title="No deployment is in this state"
        action={<Button onClick={onClear}>Show all</Button>}
      />
    )
  return (
    <EmptyState
      icon="server"
      title="No deployments yet"
      action={
        <Permitted permission="deployments.manage">
          <Link to="/deployments/new" className={buttonClass('primary')}>
            Deploy a model
          </Link>
        </Permitted>
      }
    >
      Give the id of a model on the hub, choose a GPU, and call it like any other model.
    </EmptyState>
  )
}

const COLUMNS: Column<Deployment>[] = [
  {
    id: 'name',
    value: ({ name }) => name,
    header: 'Name',
    render: ({ id, name }) => (
      <Link to="/deployments/$id" params={{ id }} className="font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    value: ({ status }) => status,
    header: 'State',
    width: '112px',
    render: ({ status }) => <DeploymentState status={status} />,
  },
  {
    id: 'model',
    value: ({ huggingface_id: id }) => id,
    header: 'Model',
    isMinor: true,
    render: ({ huggingface_id: id }) => <span className="font-mono text-xs">{id}</span>,
  },
  {
    id: 'tier',
    value: ({ gpu_tier: tier }) => tier,
    header: 'GPU tier',
    width: '144px',
    isMinor: true,
    render: ({ gpu_tier: tier }) => tier,
  },
  {
    id: 'price',
    value: ({ hourly_cost: usd }) => usd,
    header: 'Per hour',
    width: '96px',
    align: 'right',
    isMinor: true,
    render: ({ hourly_cost: price }) => formatUsd(price),
  },
  {
    id: 'spent',
    value: ({ budget_spent_usd: usd }) => usd,
    header: 'Spent',
    width: '96px',
    align: 'right',
    render: ({ budget_spent_usd: spent }) => formatUsd(spent),
  },
  {
    id: 'used',
    value: ({ last_request_at: at }) => at,
    header: 'Last request',
    width: '128px',
    align: 'right',
    isMinor: true,
    render: ({ last_request_at: at }) => <Time at={at} />,
  },
]
