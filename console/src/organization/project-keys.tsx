import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { msOf } from '../api/organization-pages.ts'
import { usePermissions } from '../api/permissions.ts'
import { deleteProjectKey, projectKeysQuery, type ProjectKey } from '../api/projects.ts'
import type { Column } from '../ui/data/data-table.tsx'
import { timeOfSeconds } from '../ui/data/table/column.ts'
import { PagedTable } from '../ui/data/paged-table.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { Badge } from '../ui/text/badge.tsx'
import { Time } from '../ui/text/time.tsx'
import type { ProjectPartProps } from './project-part.ts'

/** The keys of a project, with those whom they belong to. */
export function ProjectKeys({ id }: ProjectPartProps) {
  const may = usePermissions()
  const queryClient = useQueryClient()
  const keys = useInfiniteQuery(projectKeysQuery(id))
  const [revoked, setRevoked] = useState<ProjectKey | null>(null)
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-soft">
        People make keys of their own under <em>Keys</em>, while they work in this project.
      </p>
      <PagedTable
        label="Keys"
        tools={{ id: 'keys' }}
        query={keys}
        columns={columnsOf(may('keys.manage'), setRevoked)}
        rowId={(key) => key.id}
        empty={<EmptyState icon="key" title="No key works in this project" />}
      />
      {revoked && (
        <ConfirmDialog
          title={`Revoke ${revoked.name}?`}
          description="Every process refuses the key at once. This cannot be undone."
          action="Revoke"
          onConfirm={async () => {
            await deleteProjectKey(id, revoked.id)
            await queryClient.invalidateQueries({ queryKey: ['projects', id, 'keys'] })
          }}
          onClose={() => setRevoked(null)}
        />
      )}
    </div>
  )
}

function columnsOf(canRevoke: boolean, onRevoke: (key: ProjectKey) => void): Column<ProjectKey>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      value: ({ name }) => name,
      render: ({ name }) => <span className="font-medium">{name}</span>,
    },
    {
      id: 'key',
      header: 'Key',
      value: ({ redacted_value: text }) => text,
      width: '152px',
      isMinor: true,
      render: ({ redacted_value: text }) => <code className="text-xs">{text}</code>,
    },
    { id: 'owner', header: 'Owner', value: ownerOf, render: ownerOf },
    {
      id: 'used',
      header: 'Last use',
      value: ({ last_used_at: at }) => timeOfSeconds(at),
      width: '128px',
      isMinor: true,
      render: ({ last_used_at: at }) => <Time at={msOf(at)} />,
    },
    {
      id: 'access',
      header: 'State',
      value: ({ owner_project_access: access }) => access,
      width: '96px',
      render: ({ owner_project_access: access }) => (
        <Badge tone={access === 'active' ? 'good' : 'warn'}>{access}</Badge>
      ),
    },
    {
      id: 'revoke',
      isAction: true,
      width: '64px',
      align: 'right',
      render: (key) =>
        canRevoke && (
          <IconButton icon="trash" label={`Revoke the key ${key.name}`} onClick={() => onRevoke(key)} />
        ),
    },
  ]
}

function ownerOf({ owner }: ProjectKey): string {
  const { user, service_account: program } = owner
  return user?.name ?? user?.email ?? program?.name ?? 'the account'
}
