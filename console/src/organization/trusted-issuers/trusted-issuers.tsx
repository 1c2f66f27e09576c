import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { msOf } from '../../api/organization-pages.ts'
import { usePermissions } from '../../api/permissions.ts'
import {
  exchangesQuery,
  trustedIssuersQuery,
  type Exchange,
  type TrustedIssuer,
} from '../../api/trusted-issuers.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { timeOfSeconds } from '../../ui/data/table/column.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import type { ProjectPartProps } from '../project-part.ts'
import { IssuerSheet, NewIssuerSheet } from './issuer-sheet.tsx'

/** The machines that get tokens of service accounts without a secret, by what their own system says of them. */
export function TrustedIssuers({ id, isActive, isOfAccount }: ProjectPartProps) {
  const may = usePermissions()
  const canChange = isActive && may('keys.manage')
  const issuers = useQuery(trustedIssuersQuery(id))
  const seesLog = isOfAccount && may('audit.read')
  const exchanges = useQuery({ ...exchangesQuery(id), enabled: seesLog })
  /** The id of an issuer, or `new`. */
  const [openedId, setOpenedId] = useState<string | null>(null)
  const close = (): void => setOpenedId(null)
  const rows = issuers.data?.data ?? []
  const opened = rows.find((issuer) => issuer.id === openedId)
  const exchangesOf = (issuer: TrustedIssuer): Exchange[] =>
    (exchanges.data ?? []).filter(({ issuerId }) => issuerId === issuer.id)
  const add = canChange && (
    <Button kind="primary" icon="plus" onClick={() => setOpenedId('new')}>
      Trust an issuer
    </Button>
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          CI systems and clusters give their jobs signed tokens. The gateway exchanges one that fits a rule
          for a token of a service account, which lives for an hour at most: no key to keep, to rotate or to
          leak.
        </p>
        {rows.length > 0 && add}
      </div>
      {issuers.isPending && <SkeletonRows count={2} />}
      {issuers.error && (
        <ErrorPanel
          title="The issuers could not be loaded"
          error={issuers.error}
          onRetry={() => void issuers.refetch()}
        />
      )}
      {issuers.data && rows.length === 0 && (
        <EmptyState icon="shield" title="No issuer is trusted yet" action={add || undefined}>
          Trust GitHub Actions, GitLab or a Kubernetes cluster, and their jobs use models without a stored
          key.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Trusted issuers"
          tools={{ id: 'issuers' }}
          columns={columnsOf(
            ({ id: issuerId }) => setOpenedId(issuerId),
            seesLog ? (issuer) => exchangesOf(issuer)[0] : null,
          )}
          rows={rows}
          rowId={(issuer) => issuer.id}
          onOpen={(issuer) => setOpenedId(issuer.id)}
        />
      )}
      {openedId === 'new' && (
        <NewIssuerSheet projectId={id} onMade={(made) => setOpenedId(made.id)} onClose={close} />
      )}
      {opened && (
        <IssuerSheet
          key={opened.id}
          projectId={id}
          issuer={opened}
          exchanges={seesLog && exchanges.data ? exchangesOf(opened) : null}
          canChange={canChange}
          onClose={close}
        />
      )}
    </div>
  )
}

function columnsOf(
  onOpen: (issuer: TrustedIssuer) => void,
  lastExchangeOf: ((issuer: TrustedIssuer) => Exchange | undefined) | null,
): Column<TrustedIssuer>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      value: ({ name }) => name,
      render: (issuer) => <RowLink onOpen={() => onOpen(issuer)}>{issuer.name}</RowLink>,
    },
    {
      id: 'issuer',
      header: 'Issuer',
      value: ({ issuer }) => issuer,
      isMinor: true,
      render: ({ issuer }) => <span className="truncate font-mono text-xs">{issuer}</span>,
    },
    {
      id: 'rules',
      header: 'Rules',
      value: ({ rules }) => rules.length,
      width: '72px',
      align: 'right',
      render: ({ rules }) => rules.length,
    },
    ...(lastExchangeOf === null
      ? []
      : [
          {
            id: 'last',
            header: 'Last exchange',
            value: (issuer: TrustedIssuer) => timeOfSeconds(lastExchangeOf(issuer)?.atSeconds),
            width: '128px',
            render: (issuer: TrustedIssuer) => <Time at={msOf(lastExchangeOf(issuer)?.atSeconds)} />,
          },
        ]),
  ]
}
