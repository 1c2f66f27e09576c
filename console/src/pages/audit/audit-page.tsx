import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  auditFileUrl,
  auditQuery,
  type AuditEntry,
  type OperatorAuditFilters,
} from '../../api/operator-audit.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { AuditFilterBar } from './audit-filter-bar.tsx'
import { filtersOf } from './audit-search.ts'
import { EntrySheet, OUTCOME_TONES } from './entry-sheet.tsx'

const route = getRouteApi('/shell/audit')

export function AuditPage() {
  const search = route.useSearch()
  const filters = filtersOf(search)
  const navigate = route.useNavigate()
  const entries = useInfiniteQuery(auditQuery(filters))
  const opened = entries.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === search.entry)
  const open = ({ id }: AuditEntry): void =>
    void navigate({ search: (old) => ({ ...old, entry: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, entry: undefined }), replace: true }),
  )
  const filter = (next: OperatorAuditFilters): void => void navigate({ search: next, replace: true })
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page isWide>
      <PageHeader
        title="Audit log"
        description="Who did what to which object. Entries are written before the action and cannot be changed."
      />
      <AuditFilterBar filters={filters} total={entries.data?.pages[0]?.total} onChange={filter} />
      <PagedTable
        label="Audit entries"
        tools={{ id: 'audit', fileUrl: auditFileUrl(filters) }}
        query={entries}
        columns={columnsOf(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          isFiltered ? (
            <EmptyState
              icon="book"
              title="No entry matches"
              action={<Button onClick={() => filter({})}>Clear the filters</Button>}
            >
              Change or clear the filters.
            </EmptyState>
          ) : (
            <EmptyState icon="book" title="No entry yet">
              What operators change, such as credit, accounts and promo codes, appears here.
            </EmptyState>
          )
        }
      />
      {opened && <EntrySheet entry={opened} onClose={close} />}
    </Page>
  )
}

function columnsOf(onOpen: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    {
      id: 'time',
      header: 'Time',
      value: ({ created_at: at }) => at,
      width: '128px',
      render: ({ created_at: at }) => <Time at={at} form="short" />,
    },
    {
      id: 'action',
      header: 'Action',
      value: ({ action }) => action,
      render: (entry) => <RowLink onOpen={() => onOpen(entry)}>{entry.action}</RowLink>,
    },
    {
      id: 'target',
      header: 'Target',
      value: ({ target: { kind, id, name } }) => [kind, name ?? id].filter(Boolean).join(' '),
      width: '264px',
      isMinor: true,
      render: ({ target: { kind, id, name } }) => (
        <span className="flex items-center gap-2">
          <span className="text-ink-soft">{kind?.replaceAll('_', ' ')}</span>
          {name === null ? (
            id && <CopyableId id={id} label="target id" isShort />
          ) : (
            <span className="truncate">{name}</span>
          )}
        </span>
      ),
    },
    {
      id: 'account',
      header: 'Account',
      value: ({ account_name: name }) => name,
      width: '160px',
      isMinor: true,
      render: ({ account_name: name }) => name ?? <span className="text-ink-faint">none</span>,
    },
    {
      id: 'actor',
      header: 'Done by',
      value: ({ actor }) => actor.name ?? actor.key_id,
      width: '200px',
      isMinor: true,
      render: ({ actor }) => actor.name ?? <CopyableId id={actor.key_id} label="key id" isShort />,
    },
    {
      id: 'outcome',
      header: 'Outcome',
      value: ({ outcome }) => outcome,
      width: '104px',
      render: ({ outcome }) => <Badge tone={OUTCOME_TONES[outcome]}>{outcome}</Badge>,
    },
  ]
}
