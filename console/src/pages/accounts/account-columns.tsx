import { Link } from '@tanstack/react-router'
import type { Account } from '../../api/accounts.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatSignedUsd, formatUsd } from '../../ui/format/format-usd.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Time } from '../../ui/text/time.tsx'

/** The ids of columns that the API sorts by are its names of them. */
export const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  {
    id: 'name',
    header: 'Name',
    value: ({ name }) => name,
    render: ({ id, name }) => (
      <Link to="/accounts/$id" params={{ id }} className="font-medium hover:text-accent hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'id',
    header: 'Id',
    value: ({ id }) => id,
    width: '176px',
    isMinor: true,
    render: ({ id }) => <CopyableId id={id} label="account id" isShort />,
  },
  {
    id: 'status',
    header: 'State',
    value: ({ status }) => status,
    width: '112px',
    render: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'warn'}>{status}</Badge>,
  },
  {
    id: 'balance',
    header: 'Balance',
    value: ({ balance_usd: usd }) => usd,
    width: '128px',
    align: 'right',
    render: ({ balance_usd: balanceUsd }) => formatUsd(balanceUsd),
  },
  {
    id: 'spend',
    header: 'Spent, 30 days',
    value: ({ spent_30d_usd: usd }) => usd,
    width: '136px',
    align: 'right',
    render: ({ spent_30d_usd: spentUsd }) => formatUsd(spentUsd),
  },
  {
    id: 'growth',
    header: 'Growth',
    value: ({ spent_30d_usd: spentUsd, spent_before_usd: beforeUsd }) => spentUsd - beforeUsd,
    width: '120px',
    align: 'right',
    isMinor: true,
    // Against the 30 days before.
    render: ({ spent_30d_usd: spentUsd, spent_before_usd: beforeUsd }) =>
      formatSignedUsd(spentUsd - beforeUsd),
  },
  {
    id: 'errors',
    header: 'Failed, 30 days',
    value: ({ failed_requests_30d: failed }) => failed,
    width: '136px',
    align: 'right',
    isMinor: true,
    render: ({ failed_requests_30d: failed }) => formatCount(failed),
  },
  {
    id: 'created',
    header: 'Made',
    value: ({ created_at: at }) => at,
    width: '128px',
    isMinor: true,
    render: ({ created_at: at }) => <Time at={at} />,
  },
]
