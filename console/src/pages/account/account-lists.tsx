import { useInfiniteQuery } from '@tanstack/react-query'
import { adminRequestsFileUrl } from '../../api/admin-requests.ts'
import { accountRequestsQuery } from '../../api/accounts.ts'
import { ledgerFileUrl, ledgerQuery } from '../../api/ledger.ts'
import type { LoggedRequest } from '../../api/requests.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { LEDGER_COLUMNS } from '../../ui/data/ledger-columns.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Time } from '../../ui/text/time.tsx'
import { AccountKeys } from './account-keys.tsx'
import { AccountLimitsView } from './account-limits-view.tsx'
import { AccountUsage } from './account-usage.tsx'
import { PaymentList } from './payment-list.tsx'
import type { AccountTab } from './route.ts'

interface AccountListsProps {
  readonly id: string
  readonly tab: AccountTab
}

/** What belongs to an account. Only the list of the open tab is loaded. */
export function AccountLists({ id, tab }: AccountListsProps) {
  const List = LISTS[tab]
  return <List id={id} />
}

const LISTS = {
  keys: AccountKeys,
  usage: AccountUsage,
  limits: AccountLimitsView,
  ledger: LedgerList,
  payments: PaymentList,
  requests: RequestList,
}

const rowId = ({ id }: { readonly id: string }): string => id

function LedgerList({ id }: { readonly id: string }) {
  const entries = useInfiniteQuery(ledgerQuery({}, id))
  const empty = <EmptyState icon="card" title="The credit has not changed yet" />
  return (
    <PagedTable
      label="Ledger"
      query={entries}
      columns={LEDGER_COLUMNS}
      rowId={rowId}
      empty={empty}
      tools={{ id: 'ledger', fileUrl: ledgerFileUrl({}, id) }}
    />
  )
}

function RequestList({ id }: { readonly id: string }) {
  const requests = useInfiniteQuery(accountRequestsQuery(id))
  const empty = <EmptyState icon="log" title="No request yet" />
  return (
    <PagedTable
      label="Requests"
      tools={{ id: 'requests', fileUrl: adminRequestsFileUrl({ account_id: id }) }}
      query={requests}
      columns={REQUEST_COLUMNS}
      rowId={rowId}
      empty={empty}
    />
  )
}

const timeColumn = {
  id: 'time',
  header: 'Time',
  value: ({ created_at: at }: { readonly created_at: string }) => at,
  width: '152px',
  render: ({ created_at: at }: { readonly created_at: string }) => <Time at={at} form="clock" />,
}

const REQUEST_COLUMNS: readonly Column<LoggedRequest>[] = [
  timeColumn,
  {
    id: 'model',
    header: 'Model',
    value: ({ model, requested_model: asked }) => model ?? asked,
    render: ({ model, requested_model: asked }) => model ?? asked ?? 'none',
  },
  {
    id: 'id',
    header: 'Request id',
    value: ({ request_id: id }) => id,
    width: '176px',
    isMinor: true,
    render: ({ request_id: requestId }) => <CopyableId id={requestId} label="request id" isShort />,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    value: ({ outcome }) => outcome,
    width: '120px',
    render: ({ outcome }) => (
      <Badge tone={outcome === 'completed' ? 'good' : outcome === 'failed' ? 'bad' : 'warn'}>{outcome}</Badge>
    ),
  },
  {
    id: 'latency',
    header: 'Latency',
    value: ({ latency_ms: ms }) => ms,
    width: '96px',
    align: 'right',
    isMinor: true,
    render: ({ latency_ms: ms }) => formatDuration(ms),
  },
  {
    id: 'cost',
    header: 'Cost',
    value: ({ cost_usd: usd }) => usd,
    width: '112px',
    align: 'right',
    render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
  },
]
