import type { AdminRequest } from '../../api/admin-requests.ts'
import { RequestOutcomeBadge } from '../../requests/request-outcome.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { formatShortCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
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
      value: ({ created_at: at }) => at,
      width: '152px',
      render: ({ created_at: at }) => <Time at={at} form="clock" />,
    },
    {
      id: 'account',
      header: 'Account',
      value: ({ account_name: name, account_id: account }) => name ?? account,
      width: '144px',
      render: (request) => (
        <RowLink onOpen={() => onOpen(request)}>{request.account_name ?? request.account_id}</RowLink>
      ),
    },
    {
      id: 'model',
      header: 'Model',
      value: ({ model, requested_model: asked }) => model ?? asked,
      width: '168px',
      isMinor: true,
      render: ({ model, requested_model: asked }) => model ?? asked ?? 'none',
    },
    {
      id: 'provider',
      header: 'Provider',
      value: ({ provider }) => provider,
      width: '112px',
      isMinor: true,
      render: ({ provider }) => <span className="text-ink-soft">{provider ?? 'none'}</span>,
    },
    {
      id: 'outcome',
      header: 'Outcome',
      value: ({ outcome }) => outcome,
      width: '136px',
      render: (request) => <RequestOutcomeBadge request={request} />,
    },
    {
      id: 'error',
      header: 'Error',
      value: errorOf,
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
      value: ({ latency_ms: ms }) => ms,
      width: '88px',
      align: 'right',
      isMinor: true,
      render: ({ latency_ms: ms }) => formatDuration(ms),
    },
    {
      id: 'cost',
      header: 'Cost',
      value: ({ cost_usd: costUsd }) => costUsd,
      width: '112px',
      align: 'right',
      isMinor: true,
      render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
    },
    {
      id: 'margin',
      header: 'Margin',
      width: '112px',
      align: 'right',
      isHiddenAtFirst: true,
      value: ({ margin_usd: marginUsd }) => marginUsd,
      render: ({ margin_usd: marginUsd }) => (marginUsd === null ? '' : formatUsd(marginUsd)),
    },
    {
      id: 'tokens',
      header: 'Tokens',
      width: '112px',
      align: 'right',
      isHiddenAtFirst: true,
      value: (request) => request.prompt_tokens + request.completion_tokens,
      render: (request) => formatShortCount(request.prompt_tokens + request.completion_tokens),
    },
    {
      id: 'operation',
      header: 'Operation',
      width: '112px',
      isHiddenAtFirst: true,
      value: ({ operation }) => operation,
      render: ({ operation }) => operation,
    },
    {
      id: 'key',
      header: 'Key',
      width: '144px',
      isHiddenAtFirst: true,
      value: ({ key_name: name, key_id: id }) => name ?? id,
      render: ({ key_name: name, key_id: id }) => name ?? id,
    },
    {
      id: 'request',
      header: 'Request id',
      width: '176px',
      isHiddenAtFirst: true,
      value: ({ request_id: id }) => id,
      render: ({ request_id: id }) => <CopyableId id={id} label="request id" isShort />,
    },
  ]
}
