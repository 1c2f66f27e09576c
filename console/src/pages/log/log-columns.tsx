import type { LoggedRequest } from '../../api/requests.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { RequestOutcomeBadge } from '../../requests/request-outcome.tsx'

/** The columns of the log. */
export function logColumns(onOpen: (request: LoggedRequest) => void): Column<LoggedRequest>[] {
  return [
    {
      id: 'time',
      value: ({ created_at: at }) => at,
      header: 'Time',
      width: '152px',
      render: (request) => <Time at={request.created_at} form="clock" />,
    },
    {
      id: 'model',
      value: ({ model, requested_model: asked }) => model ?? asked,
      header: 'Model',
      render: (request) => (
        <RowLink onOpen={() => onOpen(request)}>{request.model ?? request.requested_model ?? 'none'}</RowLink>
      ),
    },
    {
      id: 'operation',
      value: ({ operation }) => operation,
      header: 'Operation',
      width: '112px',
      isMinor: true,
      render: ({ operation, stream }) => (
        <span className="text-ink-soft">
          {operation}
          {stream ? ' · stream' : ''}
        </span>
      ),
    },
    {
      id: 'provider',
      value: ({ provider }) => provider,
      header: 'Provider',
      width: '112px',
      isMinor: true,
      render: ({ provider }) => <span className="text-ink-soft">{provider ?? 'none'}</span>,
    },
    {
      id: 'key',
      value: ({ key_name: name, key_id: id }) => name ?? id,
      header: 'Key',
      width: '136px',
      isMinor: true,
      render: ({ key_name: name, key_id: id }) => <span className="text-ink-soft">{name ?? id}</span>,
    },
    {
      id: 'outcome',
      value: ({ outcome }) => outcome,
      header: 'Outcome',
      width: '136px',
      render: (request) => <RequestOutcomeBadge request={request} />,
    },
    {
      id: 'latency',
      value: ({ latency_ms: ms }) => ms,
      header: 'Latency',
      width: '88px',
      align: 'right',
      isMinor: true,
      render: ({ latency_ms: ms }) => formatDuration(ms),
    },
    {
      id: 'tokens',
      value: ({ total_tokens: tokens }) => tokens,
      header: 'Tokens',
      width: '88px',
      align: 'right',
      isMinor: true,
      render: ({ total_tokens: tokens }) => formatCount(tokens),
    },
    {
      id: 'cost',
      value: ({ cost_usd: usd }) => usd,
      header: 'Cost',
      width: '124px',
      align: 'right',
      render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
    },
  ]
}
