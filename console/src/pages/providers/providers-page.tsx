import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { providersQuery, type ProviderStatus } from '../../api/operator.ts'
import { providerHealthQuery, type ProviderHealth } from '../../api/provider-health.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatCount, formatCountOf, formatShare } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { AddProviderDialog } from './add-provider-dialog.tsx'
import { formatUptime, HealthStrip } from './health-strip.tsx'
import { ProviderSheet } from './provider-sheet.tsx'

const route = getRouteApi('/shell/providers')

export function ProvidersPage() {
  const { all, provider } = route.useSearch()
  const navigate = route.useNavigate()
  const providers = useQuery(providersQuery)
  const health = useQuery(providerHealthQuery)
  const [isAdding, setIsAdding] = useState(false)
  const rows = providers.data?.data.filter((one) => all || one.source !== null).toSorted(byImportance) ?? []
  const opened = providers.data?.data.find(({ id }) => id === provider)
  const configured = providers.data?.data.filter((one) => one.is_configured).length
  const open = ({ id }: ProviderStatus): void =>
    void navigate({ search: (old) => ({ ...old, provider: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, provider: undefined }), replace: true }),
  )
  const addButton = (
    <Permitted permission="gateway.manage">
      <Button kind="primary" icon="plus" disabled={!providers.data} onClick={() => setIsAdding(true)}>
        Add a provider
      </Button>
    </Permitted>
  )
  return (
    <Page isWide>
      <PageHeader
        title="Providers"
        description="Who answers requests: whether each is configured, how it does, its models, routes and prices."
        actions={addButton}
      />
      <FilterBar
        count={
          providers.data && `${configured ?? 0} of ${providers.data.data.length} providers are configured`
        }
      >
        <SelectField
          label="Which"
          isLabelHidden
          value={all ? 'all' : 'configured'}
          choices={[
            { value: 'configured', label: 'Configured providers' },
            { value: 'all', label: 'All providers' },
          ]}
          onChange={(which) => void navigate({ search: which === 'all' ? { all: true } : {}, replace: true })}
        />
      </FilterBar>
      {providers.isPending && <SkeletonRows />}
      {providers.error && (
        <ErrorPanel
          title="Providers could not be loaded"
          error={providers.error}
          onRetry={() => void providers.refetch()}
        />
      )}
      {providers.data && rows.length === 0 && (
        <EmptyState icon="plug" title="No provider is configured" action={addButton}>
          Requests are answered by the sandbox. Add a provider with its key: its models answer at once.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Providers"
          tools={{ id: 'providers' }}
          columns={columnsOf(open, new Map(health.data?.data.map((one) => [one.provider, one])))}
          rows={rows}
          rowId={({ id }) => id}
          onOpen={open}
        />
      )}
      {isAdding && providers.data && (
        <AddProviderDialog
          vendors={providers.data.vendors}
          taken={providers.data.data.filter(({ source }) => source !== null).map(({ id }) => id)}
          ends={providers.data.first_provider_ends}
          onClose={() => setIsAdding(false)}
        />
      )}
      {opened && <ProviderSheet provider={opened} onClose={close} />}
    </Page>
  )
}

/** Those that are configured come first, then those that serve many models of the catalog. */
function byImportance(left: ProviderStatus, right: ProviderStatus): number {
  const isLeft = left.source !== null
  if (isLeft !== (right.source !== null)) return isLeft ? -1 : 1
  return isLeft ? 0 : right.models.length - left.models.length
}

function columnsOf(
  onOpen: (provider: ProviderStatus) => void,
  past: ReadonlyMap<string, ProviderHealth>,
): Column<ProviderStatus>[] {
  return [
    {
      id: 'name',
      header: 'Provider',
      value: ({ id }) => id,
      render: (provider) => <RowLink onOpen={() => onOpen(provider)}>{provider.id}</RowLink>,
    },
    {
      id: 'state',
      header: 'State',
      value: (provider) => stateOf(provider).text,
      width: '160px',
      render: renderState,
    },
    {
      id: 'models',
      header: 'Models',
      value: ({ models }) => models.length,
      width: '88px',
      align: 'right',
      render: ({ models }) => formatCount(models.length),
    },
    {
      id: 'past',
      header: '30 days',
      value: ({ id }) => past.get(id)?.calls,
      width: '200px',
      isMinor: true,
      render: ({ id }) => {
        const health = past.get(id)
        return health && <HealthStrip health={health} />
      },
    },
    {
      id: 'uptime',
      header: 'Uptime',
      value: ({ id }) => past.get(id)?.uptime,
      width: '88px',
      align: 'right',
      isMinor: true,
      render: ({ id }) => {
        const uptime = past.get(id)?.uptime ?? null
        return uptime === null ? 'none' : formatUptime(uptime)
      },
    },
    {
      id: 'requests',
      header: 'Requests, 5 min',
      value: ({ recent }) => recent.requests,
      width: '136px',
      align: 'right',
      isMinor: true,
      render: ({ recent }) => formatCount(recent.requests),
    },
    {
      id: 'errors',
      header: 'Errors',
      value: ({ recent }) => recent.error_share,
      width: '88px',
      align: 'right',
      isMinor: true,
      render: ({ recent }) => (recent.error_share === null ? 'none' : formatShare(recent.error_share)),
    },
    {
      id: 'latency',
      header: 'Latency, p50',
      value: ({ recent }) => recent.latency_ms.p50,
      width: '120px',
      align: 'right',
      isMinor: true,
      render: ({ recent: { latency_ms: latency } }) =>
        latency.p50 === null ? 'none' : formatDuration(latency.p50),
    },
  ]
}

function renderState(provider: ProviderStatus) {
  const { tone, text } = stateOf(provider)
  return <Badge tone={tone}>{text}</Badge>
}

/** The share of failed calls from which a provider is shown as failing. */
const HIGH_ERROR_SHARE = 0.1

function stateOf({ is_configured: isConfigured, models, recent, ...provider }: ProviderStatus) {
  if (provider.problem !== null) return { tone: 'bad', text: 'has a problem' } as const
  if (!provider.is_enabled) return { tone: 'warn', text: 'switched off' } as const
  if (!isConfigured) return { tone: 'plain', text: 'not configured' } as const
  const open = models.filter(({ breaker }) => breaker.state !== 'closed').length
  if (open > 0) return { tone: 'bad', text: `${formatCountOf(open, 'breaker')} open` } as const
  if ((recent.error_share ?? 0) > HIGH_ERROR_SHARE) return { tone: 'warn', text: 'failing' } as const
  return { tone: 'good', text: 'configured' } as const
}
