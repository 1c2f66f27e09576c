import { PAYMENT_KIND_NAMES, type Payment } from '../../api/billing.ts'
import { formatUsd } from '../format/format-usd.ts'
import { Icon } from '../icon.tsx'
import { Badge, type Tone } from '../text/badge.tsx'
import { CopyableId } from '../text/copyable-id.tsx'
import { Time } from '../text/time.tsx'
import type { Column } from './data-table.tsx'

const TONES: Partial<Record<Payment['status'], Tone>> = {
  completed: 'good',
  pending: 'accent',
  processing: 'accent',
  failed: 'bad',
  disputed: 'bad',
}

/** The columns of a history of payments, of one's own account or of any. */
export const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  {
    id: 'time',
    value: ({ created_at: at }) => at,
    header: 'Time',
    width: '128px',
    isMinor: true,
    render: ({ created_at: at }) => <Time at={at} form="short" />,
  },
  {
    id: 'kind',
    value: ({ kind }) => PAYMENT_KIND_NAMES[kind],
    header: 'Kind',
    width: '112px',
    render: ({ kind }) => PAYMENT_KIND_NAMES[kind],
  },
  {
    id: 'status',
    value: ({ status }) => status,
    header: 'State',
    width: '136px',
    render: ({ status }) => <Badge tone={TONES[status] ?? 'plain'}>{status.replaceAll('_', ' ')}</Badge>,
  },
  {
    id: 'reason',
    value: ({ reason }) => reason,
    header: 'Reason',
    isMinor: true,
    render: ({ reason }) => (
      <span title={reason} className="text-ink-soft">
        {reason}
      </span>
    ),
  },
  {
    id: 'id',
    value: ({ id }) => id,
    header: 'Id',
    width: '152px',
    isMinor: true,
    render: ({ id }) => <CopyableId id={id} label="payment id" isShort />,
  },
  {
    id: 'receipt',
    value: ({ receipt_url: url }) => url,
    header: 'Receipt',
    width: '80px',
    isMinor: true,
    render: renderReceipt,
  },
  {
    id: 'amount',
    value: ({ amount_usd: usd }) => usd,
    header: 'Amount',
    width: '112px',
    align: 'right',
    render: ({ amount_usd: amountUsd }) => formatUsd(amountUsd),
  },
]

function renderReceipt({ receipt_url: url }: Payment) {
  // The address comes from the payment provider; anything but a web address is not made a link.
  if (url === undefined || !/^https?:/i.test(url)) return null
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="inline-flex items-center gap-1 text-accent underline"
    >
      Open <Icon name="external" className="size-3" />
    </a>
  )
}
