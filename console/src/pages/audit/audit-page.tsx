import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { auditQuery, type AuditEntry } from '../../api/operator.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { Badge, type Tone } from '../../ui/text/badge.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'

const route = getRouteApi('/shell/audit')

export function AuditPage() {
  const { target, entry: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const entries = useInfiniteQuery(auditQuery(target))
  const opened = entries.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openedId)
  const open = ({ id }: AuditEntry): void =>
    void navigate({ search: (old) => ({ ...old, entry: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, entry: undefined }), replace: true }),
  )
  const filter = (id: string): void =>
    void navigate({ search: id === '' ? {} : { target: id }, replace: true })
  return (
    <Page>
      <PageHeader
        title="Audit log"
        description="Who did what to which object. Entries are written before the action and cannot be changed."
      />
      <FilterBar {...(target && { onClear: () => filter('') })}>
        <SearchField
          label="Id of what was changed"
          className="w-80 max-sm:w-full"
          value={target ?? ''}
          onChange={(id) => filter(id.trim())}
        />
      </FilterBar>
      <PagedTable
        label="Audit entries"
        query={entries}
        columns={columnsOf(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          target === undefined ? (
            <EmptyState icon="book" title="No entry yet">
              What operators change, such as credit, accounts and promo codes, appears here.
            </EmptyState>
          ) : (
            <EmptyState
              icon="book"
              title="No entry matches"
              action={<Button onClick={() => filter('')}>Clear the filter</Button>}
            >
              Nothing was done to the object with this id.
            </EmptyState>
          )
        }
      />
      {opened && <EntrySheet entry={opened} onClose={close} />}
    </Page>
  )
}

const TONES: Readonly<Record<AuditEntry['outcome'], Tone>> = { done: 'good', failed: 'bad', unknown: 'warn' }

function columnsOf(onOpen: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    {
      id: 'time',
      header: 'Time',
      width: '128px',
      render: ({ created_at: at }) => <Time at={at} form="short" />,
    },
    {
      id: 'action',
      header: 'Action',
      render: (entry) => <RowLink onOpen={() => onOpen(entry)}>{entry.action}</RowLink>,
    },
    {
      id: 'target',
      header: 'Target',
      width: '240px',
      isMinor: true,
      render: ({ target: { kind, id } }) => (
        <span className="flex items-center gap-2">
          <span className="text-ink-soft">{kind}</span>
          {id && <CopyableId id={id} label="target id" isShort />}
        </span>
      ),
    },
    {
      id: 'actor',
      header: 'Key of the actor',
      width: '176px',
      isMinor: true,
      render: ({ actor }) => <CopyableId id={actor.key_id} label="key id" isShort />,
    },
    {
      id: 'outcome',
      header: 'Outcome',
      width: '104px',
      render: ({ outcome }) => <Badge tone={TONES[outcome]}>{outcome}</Badge>,
    },
  ]
}

function EntrySheet({ entry, onClose }: { readonly entry: AuditEntry; readonly onClose: () => void }) {
  return (
    <Sheet title={entry.action} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-4">
        <DetailsList
          details={{
            Outcome: <Badge tone={TONES[entry.outcome]}>{entry.outcome}</Badge>,
            Time: <Time at={entry.created_at} form="short" />,
            Account: <CopyableId id={entry.actor.account_id} label="account id" />,
            Key: <CopyableId id={entry.actor.key_id} label="key id" />,
            Target: entry.target.kind,
            'Target id': entry.target.id && <CopyableId id={entry.target.id} label="target id" />,
          }}
        />
        <CodeBlock label="What was asked for" language="json" code={JSON.stringify(entry.details, null, 2)} />
      </div>
    </Sheet>
  )
}
