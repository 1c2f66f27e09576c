import type { ApiKey } from '../api/keys.ts'
import type { Column } from '../ui/data/data-table.tsx'
import { formatUsd } from '../ui/format/format-usd.ts'
import { RowLink } from '../ui/text/row-link.tsx'
import { Time } from '../ui/text/time.tsx'
import { KeyState } from './key-state.tsx'

/** The columns of the list of keys. */
export function keyColumns(onOpen: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    {
      id: 'name',
      value: ({ name }) => name,
      header: 'Name',
      render: (key) => <RowLink onOpen={() => onOpen(key)}>{key.name}</RowLink>,
    },
    {
      id: 'prefix',
      value: (key) => key.key_prefix,
      header: 'Key',
      width: '144px',
      isMinor: true,
      render: (key) => <span className="font-mono text-xs text-ink-soft">{key.key_prefix}</span>,
    },
    {
      id: 'state',
      value: ({ is_active: isActive }) => (isActive ? 'active' : 'ended'),
      header: 'State',
      width: '96px',
      render: (key) => <KeyState apiKey={key} />,
    },
    {
      id: 'scopes',
      value: ({ scopes }) => scopes.join(' '),
      header: 'Scopes',
      width: '200px',
      isMinor: true,
      render: (key) => <span className="text-ink-soft">{key.scopes.join(', ')}</span>,
    },
    {
      id: 'spent',
      value: ({ spent_usd: usd }) => usd,
      header: 'Spent',
      width: '152px',
      align: 'right',
      render: spentOf,
    },
    {
      id: 'used',
      value: ({ last_used_at: at }) => at,
      header: 'Last used',
      width: '120px',
      isMinor: true,
      render: (key) => <Time at={key.last_used_at} />,
    },
    {
      id: 'expires',
      value: ({ expires_at: at }) => at,
      header: 'Expires',
      width: '120px',
      isMinor: true,
      render: (key) => <Time at={key.expires_at} />,
    },
  ]
}

function spentOf({ spent_usd: spentUsd, limit_usd: limitUsd }: ApiKey) {
  return (
    <>
      {formatUsd(spentUsd)}
      {limitUsd !== null && <span className="text-ink-faint"> of {formatUsd(limitUsd)}</span>}
    </>
  )
}
