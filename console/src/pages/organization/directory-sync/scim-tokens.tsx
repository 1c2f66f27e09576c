import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { msOf } from '../../../api/organization-pages.ts'
import { deleteScimToken, worksNow, type ScimToken } from '../../../api/scim.ts'
import { DataTable, type Column } from '../../../ui/data/data-table.tsx'
import { timeOfSeconds } from '../../../ui/data/table/column.ts'
import { IconButton } from '../../../ui/forms/icon-button.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Badge } from '../../../ui/text/badge.tsx'
import { Time } from '../../../ui/text/time.tsx'

interface ScimTokensProps {
  readonly rows: readonly ScimToken[]
  readonly onReplace: (token: ScimToken) => void
}

/** The tokens that directories have, and the end of each. */
export function ScimTokens({ rows, onReplace }: ScimTokensProps) {
  const queryClient = useQueryClient()
  const [deleted, setDeleted] = useState<ScimToken | null>(null)
  if (rows.length === 0) return null
  const isLast = rows.filter(worksNow).length <= 1
  return (
    <section aria-labelledby="scim-tokens" className="flex flex-col gap-3">
      <h2 id="scim-tokens" className="text-sm font-semibold">
        Tokens
      </h2>
      <DataTable
        label="Tokens"
        tools={{ id: 'tokens' }}
        columns={columnsOf(onReplace, setDeleted)}
        rows={rows}
        rowId={({ id }) => id}
      />
      {deleted && (
        <ConfirmDialog
          title={`Delete the token “${deleted.name}”?`}
          description={`It stops working at once. People and groups stay as they are.${isLast ? ' No other token works, so the synchronisation ends.' : ''}`}
          action="Delete the token"
          onConfirm={async () => {
            await deleteScimToken(deleted.id)
            await queryClient.invalidateQueries({ queryKey: ['scim'] })
          }}
          onClose={() => setDeleted(null)}
        />
      )}
    </section>
  )
}

function columnsOf(
  onReplace: (token: ScimToken) => void,
  onDelete: (token: ScimToken) => void,
): Column<ScimToken>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      value: ({ name }) => name,
      render: (token) => (
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate font-medium">{token.name}</span>
          {!worksNow(token) && <Badge tone="warn">expired</Badge>}
        </span>
      ),
    },
    {
      id: 'value',
      header: 'Begins with',
      value: ({ redacted_value: value }) => value,
      width: '176px',
      isMinor: true,
      render: ({ redacted_value: value }) => <span className="font-mono text-xs">{value}</span>,
    },
    {
      id: 'created',
      header: 'Made',
      value: ({ created_at: at }) => timeOfSeconds(at),
      width: '128px',
      isMinor: true,
      render: ({ created_at: at }) => <Time at={msOf(at)} />,
    },
    {
      id: 'expires',
      header: 'Expires',
      value: ({ expires_at: at }) => timeOfSeconds(at),
      width: '128px',
      isMinor: true,
      render: ({ expires_at: at }) => <Time at={msOf(at)} />,
    },
    {
      id: 'used',
      header: 'Last use',
      value: ({ last_used_at: at }) => timeOfSeconds(at),
      width: '128px',
      render: ({ last_used_at: at }) => <Time at={msOf(at)} />,
    },
    {
      id: 'actions',
      isAction: true,
      width: '96px',
      align: 'right',
      render: (token) => (
        <span className="flex justify-end">
          <IconButton
            icon="retry"
            label={`Replace the token ${token.name}`}
            onClick={() => onReplace(token)}
          />
          <IconButton icon="trash" label={`Delete the token ${token.name}`} onClick={() => onDelete(token)} />
        </span>
      ),
    },
  ]
}
