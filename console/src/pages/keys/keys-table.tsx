import type { ApiKey } from '../../api/keys.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { KeyState } from './key-state.tsx'

interface KeysTableProps {
  readonly rows: readonly ApiKey[]
  readonly onOpen: (key: ApiKey) => void
  readonly onEnd: (() => void) | undefined
  readonly isLoadingMore: boolean
}

export function KeysTable({ rows, onOpen, onEnd, isLoadingMore }: KeysTableProps) {
  const columns: Column<ApiKey>[] = [
    {
      id: 'name',
      header: 'Name',
      render: (key) => <RowLink onOpen={() => onOpen(key)}>{key.name}</RowLink>,
    },
    {
      id: 'prefix',
      header: 'Key',
      width: '144px',
      isMinor: true,
      render: (key) => <span className="font-mono text-xs text-ink-soft">{key.key_prefix}</span>,
    },
    { id: 'state', header: 'State', width: '96px', render: (key) => <KeyState apiKey={key} /> },
    {
      id: 'scopes',
      header: 'Scopes',
      width: '200px',
      isMinor: true,
      render: (key) => <span className="text-ink-soft">{key.scopes.join(', ')}</span>,
    },
    { id: 'spent', header: 'Spent', width: '152px', align: 'right', render: spentOf },
    {
      id: 'used',
      header: 'Last used',
      width: '120px',
      isMinor: true,
      render: (key) => <Time at={key.last_used_at} />,
    },
    {
      id: 'expires',
      header: 'Expires',
      width: '120px',
      isMinor: true,
      render: (key) => <Time at={key.expires_at} />,
    },
  ]
  return (
    <DataTable
      label="Keys"
      columns={columns}
      rows={rows}
      rowId={({ id }) => id}
      onOpen={onOpen}
      onEnd={onEnd}
      isLoadingMore={isLoadingMore}
    />
  )
}

function spentOf({ spent_usd: spentUsd, limit_usd: limitUsd }: ApiKey) {
  return (
    <>
      {formatUsd(spentUsd)}
      {limitUsd !== null && <span className="text-ink-faint"> of {formatUsd(limitUsd)}</span>}
    </>
  )
}
