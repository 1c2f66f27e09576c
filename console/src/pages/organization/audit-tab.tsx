import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { AUDIT_TYPES, auditLogQuery, type AuditLogEntry, type AuditPeriod } from '../../api/audit-log.ts'
import { msOf } from '../../api/organization-pages.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { timeOfSeconds } from '../../ui/data/table/column.ts'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { describeActor, detailsOf } from './describe-actor.ts'

const route = getRouteApi('/shell/organization')

const PERIODS: readonly { readonly value: AuditPeriod | ''; readonly label: string }[] = [
  { value: '', label: 'Any time' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '365d', label: 'Last year' },
]

/** Who changed what in the account. */
export function AuditTab() {
  const { type, email, resource, since, open: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const filters = { type, email, resource, since }
  const entries = useInfiniteQuery(auditLogQuery(filters))
  const opened = entries.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openedId)
  const change = (next: Partial<typeof filters>): void =>
    void navigate({ search: { tab: 'audit', ...filters, ...next }, replace: true })
  const open = ({ id }: AuditLogEntry): void =>
    void navigate({ search: (old) => ({ ...old, open: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, open: undefined }), replace: true }),
  )
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return (
    <div className="flex flex-col gap-4">
      <FilterBar
        {...(isFiltered && {
          onClear: () => change({ type: undefined, email: undefined, resource: undefined, since: undefined }),
        })}
      >
        <SelectField
          label="What happened"
          isLabelHidden
          value={type ?? ''}
          choices={[
            { value: '', label: 'Everything' },
            ...AUDIT_TYPES.map((value) => ({ value, label: nameOf(value) })),
          ]}
          onChange={(chosen) => change({ type: AUDIT_TYPES.find((known) => known === chosen) })}
        />
        <SelectField
          label="Period"
          isLabelHidden
          value={since ?? ''}
          choices={PERIODS}
          onChange={(chosen) => change({ since: chosen === '' ? undefined : chosen })}
        />
        <SearchField
          label="E-mail of who did it"
          className="w-64 max-sm:w-full"
          value={email ?? ''}
          onChange={(text) => change({ email: text.trim() === '' ? undefined : text.trim() })}
        />
        <SearchField
          label="Id of what was changed"
          className="w-64 max-sm:w-full"
          value={resource ?? ''}
          onChange={(text) => change({ resource: text.trim() === '' ? undefined : text.trim() })}
        />
      </FilterBar>
      <PagedTable
        label="Audit log"
        tools={{ id: 'audit' }}
        query={entries}
        columns={columnsOf(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          <EmptyState icon="book" title={isFiltered ? 'No entry matches' : 'No entry yet'}>
            Every change of people, projects, keys, roles and budgets is recorded with it.
          </EmptyState>
        }
      />
      {opened && (
        <Sheet title={nameOf(opened.type)} isOpen onClose={close} side="right">
          <div className="flex flex-col gap-4">
            <DetailsList
              details={{
                Time: <Time at={msOf(opened.effective_at)} form="short" />,
                'Done by': describeActor(opened),
                Address: opened.ip_address,
                Program: opened.user_agent,
                Project: opened.project && (opened.project.name ?? opened.project.id),
                'Entry id': <CopyableId id={opened.id} label="entry id" />,
              }}
            />
            <CodeBlock
              label="What was changed"
              language="json"
              code={JSON.stringify(detailsOf(opened), null, 2)}
            />
          </div>
        </Sheet>
      )}
    </div>
  )
}

function columnsOf(onOpen: (entry: AuditLogEntry) => void): Column<AuditLogEntry>[] {
  return [
    {
      id: 'time',
      header: 'Time',
      value: ({ effective_at: at }) => timeOfSeconds(at),
      width: '128px',
      render: ({ effective_at: at }) => <Time at={msOf(at)} form="short" />,
    },
    {
      id: 'id',
      header: 'Entry id',
      value: ({ id }) => id,
      width: '176px',
      isHiddenAtFirst: true,
      render: ({ id }) => <CopyableId id={id} label="entry id" isShort />,
    },
    {
      id: 'type',
      header: 'What happened',
      value: ({ type }) => type,
      render: (entry) => <RowLink onOpen={() => onOpen(entry)}>{nameOf(entry.type)}</RowLink>,
    },
    { id: 'actor', header: 'Done by', value: describeActor, isMinor: true, render: describeActor },
    {
      id: 'ip_address',
      header: 'Address',
      value: ({ ip_address: address }) => address,
      width: '144px',
      isMinor: true,
      render: ({ ip_address: address }) => address ?? <span className="text-ink-faint">unknown</span>,
    },
    {
      id: 'user_agent',
      header: 'Program',
      value: ({ user_agent: program }) => program,
      isHiddenAtFirst: true,
      render: ({ user_agent: program }) => <span title={program ?? ''}>{program}</span>,
    },
    {
      id: 'project',
      header: 'Project',
      value: ({ project }) => project?.name ?? project?.id,
      isMinor: true,
      render: ({ project }) => project?.name ?? <span className="text-ink-faint">whole account</span>,
    },
    {
      id: 'details',
      header: 'Details',
      value: (entry) => JSON.stringify(detailsOf(entry)),
      isHiddenAtFirst: true,
      render: (entry) => <span className="font-mono text-xs">{JSON.stringify(detailsOf(entry))}</span>,
    },
  ]
}

/** `project.created` becomes "project created". */
function nameOf(type: string): string {
  return type.replaceAll(/[._]/g, ' ')
}
