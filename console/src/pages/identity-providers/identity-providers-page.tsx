import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { identityProvidersQuery, type IdentityProvider } from '../../api/identity-providers.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { NewProviderDialog } from './new-provider-dialog.tsx'
import { ProviderSheet } from './provider-sheet.tsx'

const route = getRouteApi('/shell/identity-providers')

/** Where people sign in with an account of their company. */
export function IdentityProvidersPage() {
  const providers = useQuery(identityProvidersQuery)
  const [isAdding, setIsAdding] = useState(false)
  const { provider: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const open = ({ id }: IdentityProvider): void => void navigate({ search: { provider: id }, ...AS_DETAIL })
  const close = useCloseDetail(() => void navigate({ search: {}, replace: true }))
  const rows = providers.data?.providers ?? []
  const opened = rows.find(({ id }) => id === openedId)
  const add = (
    <Permitted permission="gateway.manage">
      <Button kind="primary" icon="plus" onClick={() => setIsAdding(true)}>
        Add a provider
      </Button>
    </Permitted>
  )
  return (
    <Page>
      <PageHeader
        title="Identity providers"
        description="Where people sign in with an account of their company."
        actions={add}
      />
      {providers.isPending && <SkeletonRows />}
      {providers.error && (
        <ErrorPanel
          title="The providers could not be loaded"
          error={providers.error}
          onRetry={() => void providers.refetch()}
        />
      )}
      {providers.data && rows.length === 0 && (
        <EmptyState icon="shield" title="No identity provider yet" action={add}>
          Connect Keycloak, Entra, Okta, Google or another directory, and people sign in as they do elsewhere.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Identity providers"
          tools={{ id: 'identity_providers' }}
          columns={columnsOf(open)}
          rows={rows}
          rowId={({ id }) => id}
          onOpen={open}
        />
      )}
      {isAdding && (
        <NewProviderDialog
          onClose={() => setIsAdding(false)}
          onAdded={(provider) => {
            setIsAdding(false)
            open(provider)
          }}
        />
      )}
      {opened && <ProviderSheet key={opened.id} provider={opened} onClose={close} />}
    </Page>
  )
}

function columnsOf(onOpen: (provider: IdentityProvider) => void): Column<IdentityProvider>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      value: ({ name }) => name,
      render: (provider) => <RowLink onOpen={() => onOpen(provider)}>{provider.name}</RowLink>,
    },
    {
      id: 'state',
      header: 'State',
      value: ({ enabled }) => (enabled ? 'on' : 'off'),
      width: '104px',
      render: ({ enabled }) => <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'on' : 'off'}</Badge>,
    },
    {
      id: 'issuer',
      header: 'Issuer',
      value: ({ issuer }) => issuer,
      isMinor: true,
      render: ({ issuer }) => <span className="truncate font-mono text-xs">{issuer}</span>,
    },
    {
      id: 'last',
      header: 'Last sign-in',
      value: ({ last_sign_in_at: at }) => at,
      width: '128px',
      isMinor: true,
      render: ({ last_sign_in_at: at }) => (at === null ? 'never' : <Time at={at} />),
    },
  ]
}
