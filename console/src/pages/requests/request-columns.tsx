import type { AdminRequest } from '../../api/admin-requests.ts'
import { RequestOutcomeBadge } from '../../requests/request-outcome.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'

/** What a person reads first of an error: the provider's words, otherwise those of the gateway. */
export function errorOf(request: Pick<AdminRequest, 'upstream_error' | 'error_message' | 'error_code'>) {
  return request.upstream_error?.message ?? request.error_message ?? request.error_code
}

export function requestColumns(onOpen: (request: AdminRequest) => void): Column<AdminRequest>[] {
  return [
    {
      id: 'time',
      header: 'Time',
      width: '152px',
      render: ({ created_at: at }) => <Time at={at} form="clock" />,
    },
    {
      id: 'account',
      header: 'Account',
      width: '144px',
      render: (request) => (
        <RowLink onOpen={() => onOpen(request)}>{request.account_name ?? request.account_id}</RowLink>
      ),
    },
    {
      id: 'model',
      header: 'Model',
      width: '168px',
      isMinor: true,
      render: ({ model, requested_model: asked }) => model ?? asked ?? 'none',
    },
    {
      id: 'provider',
      header: 'Provider',
      width: '112px',
      isMinor: true,
      render: ({ provider }) => <span className="text-ink-soft">{provider ?? 'none'}</span>,
    },
    {
      id: 'outcome',
      header: 'Outcome',
      width: '136px',
      render: (request) => <RequestOutcomeBadge request={request} />,
    },
    {
      id: 'error',
      header: 'Error',
      isMinor: true,
      render: (request) => (
        <span className="truncate text-ink-soft" title={errorOf(request) ?? undefined}>
          {errorOf(request)}
        </span>
      ),
    },
    {
      id: 'latency',
      header: 'Latency',
      width: '88px',
      align: 'right',
      isMinor: true,
      render: ({ latency_ms: ms }) => formatDuration(ms),
    },
    {
      id: 'cost',
      header: 'Cost',
      width: '112px',
      align: 'right',
      isMinor: true,
      render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
    },
  ]
}
