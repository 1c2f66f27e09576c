import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { managedSettingsQuery, type ManagedSettings } from '../../../api/managed-settings.ts'
import { groupsQuery } from '../../../api/people.ts'
import { usePermissions } from '../../../api/permissions.ts'
import { DataTable, type Column } from '../../../ui/data/data-table.tsx'
import { EmptyState } from '../../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../../ui/feedback/skeleton.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { RowLink } from '../../../ui/text/row-link.tsx'
import { Time } from '../../../ui/text/time.tsx'
import { PolicySheet } from './policy-sheet.tsx'
import { SettingsPreview } from './settings-preview.tsx'

/** What agents such as Claude Code may do on the machines of the people in the account. */
export function AgentSettingsTab() {
  const may = usePermissions()
  const policies = useQuery(managedSettingsQuery)
  const groups = useInfiniteQuery(groupsQuery())
  /** The id of managed settings, or `new`. */
  const [openedId, setOpenedId] = useState<string | null>(null)
  const rows = policies.data?.data ?? []
  const opened = rows.find(({ id }) => id === openedId)
  const known = groups.data?.pages.flatMap(({ data }) => data) ?? []
  const nameOf = (groupId: string | null): string =>
    groupId === null ? 'Everybody' : (known.find(({ id }) => id === groupId)?.name ?? groupId)
  const taken = new Set(rows.map(({ group_id: groupId }) => groupId))
  const targets = [
    ...(taken.has(null) ? [] : [{ value: '', label: 'Everybody in the account' }]),
    ...known.filter(({ id }) => !taken.has(id)).map(({ id, name }) => ({ value: id, label: name })),
  ]
  const canChange = may('projects.manage')
  const add =
    canChange &&
    groups.data &&
    (targets.length === 0 ? (
      <p className="text-xs text-ink-faint">Everybody and every group have settings.</p>
    ) : (
      <Button kind="primary" icon="plus" onClick={() => setOpenedId('new')}>
        New settings
      </Button>
    ))
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          Settings that Claude Code takes over when it is signed in to this gateway: the members of its
          managed-settings.json. It asks at its start and about once an hour.
        </p>
        {rows.length > 0 && add}
      </div>
      {policies.isPending && <SkeletonRows count={2} />}
      {policies.error && (
        <ErrorPanel
          title="The settings could not be loaded"
          error={policies.error}
          onRetry={() => void policies.refetch()}
        />
      )}
      {policies.data && rows.length === 0 && (
        <EmptyState icon="settings" title="No settings yet" action={add || undefined}>
          Set what agents may do for everybody, and what differs for groups.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <DataTable
            label="Agent settings"
            tools={{ id: 'agent_settings' }}
            columns={columnsOf(nameOf, ({ id }) => setOpenedId(id))}
            rows={rows}
            rowId={({ id }) => id}
            onOpen={({ id }) => setOpenedId(id)}
          />
          <SettingsPreview
            // What was shown is out of date after a change.
            key={rows.map(({ id, updated_at: at }) => `${id} ${at}`).join()}
            policies={rows}
            nameOf={nameOf}
          />
        </>
      )}
      {(openedId === 'new' || opened) && (
        <PolicySheet
          key={openedId}
          policy={opened ?? null}
          name={opened ? nameOf(opened.group_id) : ''}
          targets={targets}
          canChange={canChange}
          onClose={() => setOpenedId(null)}
        />
      )}
    </div>
  )
}

function columnsOf(
  nameOf: (groupId: string | null) => string,
  onOpen: (policy: ManagedSettings) => void,
): Column<ManagedSettings>[] {
  return [
    {
      id: 'for',
      header: 'For',
      value: ({ group_id: id }) => nameOf(id),
      render: (policy) => <RowLink onOpen={() => onOpen(policy)}>{nameOf(policy.group_id)}</RowLink>,
    },
    {
      id: 'priority',
      header: 'Priority',
      value: ({ group_id: id, priority }) => (id === null ? null : priority),
      width: '96px',
      align: 'right',
      render: ({ group_id: groupId, priority }) =>
        groupId === null ? <span className="text-ink-soft">lowest</span> : priority,
    },
    {
      id: 'members',
      header: 'Sets',
      value: ({ settings }) => Object.keys(settings).join(', '),
      isMinor: true,
      render: ({ settings }) =>
        Object.keys(settings).join(', ') || <span className="text-ink-faint">nothing</span>,
    },
    {
      id: 'updated',
      header: 'Set',
      value: ({ updated_at: at }) => at,
      width: '128px',
      render: ({ updated_at: at }) => <Time at={at} />,
    },
  ]
}
