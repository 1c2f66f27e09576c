import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { AUDIT_TYPES, auditLogQuery, type AuditLogEntry } from '../../api/audit-log.ts'
import { msOf } from '../../api/organization-pages.ts'
import type { Column } from '../../ui/data/data-table.tsx'
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

const route = getRouteApi('/shell/organization')

/** Who changed what in the account. */
export function AuditTab() {
  const { type, email, resource, open: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const filters = { type, email, resource }
  const entries = useInfiniteQuery(auditLogQuery(filters))
  const opened = entries.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openedId)
  const change = (next: Partial<typeof filters>): void =>
    void navigate({ search: { tab: 'audit', ...filters, ...next }, replace: true })
  const open = ({ id }: AuditLogEntry): void =>
    void navigate({ search: (old) => ({ ...old, open: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, open: undefined }), replace: true }),
  )
  const isFiltered = type !== undefined || email !== undefined || resource !== undefined
  return (
    <div className="flex flex-col gap-4">
      <FilterBar
        {...(isFiltered && {
          onClear: () => change({ type: undefined, email: undefined, resource: undefined }),
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
                'Done by': actorOf(opened),
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
      width: '128px',
      render: ({ effective_at: at }) => <Time at={msOf(at)} form="short" />,
    },
    {
      id: 'type',
      header: 'What happened',
      render: (entry) => <RowLink onOpen={() => onOpen(entry)}>{nameOf(entry.type)}</RowLink>,
    },
    { id: 'actor', header: 'Done by', isMinor: true, render: actorOf },
    {
      id: 'project',
      header: 'Project',
      isMinor: true,
      render: ({ project }) => project?.name ?? <span className="text-ink-faint">whole account</span>,
    },
  ]
}

/** `project.created` becomes "project created". */
function nameOf(type: string): string {
  return type.replaceAll(/[._]/g, ' ')
}

function actorOf({ actor }: AuditLogEntry): string {
  if (actor === null) return 'the operator'
  const person = actor.session?.user ?? actor.api_key?.user
  if (person) return person.email
  const program = actor.api_key?.service_account
  if (program) return program.id
  return actor.session ? 'a key of the account, in a browser' : `key ${actor.api_key?.id ?? ''}`
}

function detailsOf(entry: AuditLogEntry): unknown {
  return Reflect.get(entry, entry.type) ?? null
}
