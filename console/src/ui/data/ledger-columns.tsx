import { ENTRY_KIND_NAMES, type LedgerEntry } from '../../api/ledger.ts'
import { formatUsd } from '../format/format-usd.ts'
import { CopyableId } from '../text/copyable-id.tsx'
import { Time } from '../text/time.tsx'
import type { Column } from './data-table.tsx'

/** The columns of a ledger, of one's own account or of any. */
export const LEDGER_COLUMNS: readonly Column<LedgerEntry>[] = [
  {
    id: 'time',
    value: ({ created_at: at }) => at,
    header: 'Time',
    width: '128px',
    render: ({ created_at: at }) => <Time at={at} form="short" />,
  },
  {
    id: 'kind',
    value: ({ kind }) => ENTRY_KIND_NAMES[kind],
    header: 'Kind',
    width: '112px',
    isMinor: true,
    render: ({ kind }) => ENTRY_KIND_NAMES[kind],
  },
  { id: 'what', header: 'What for', value: whatFor, render: WhatFor },
  {
    id: 'keys',
    header: 'Key, project',
    value: ({ charges }) => charges?.map(describeKey).join('; '),
    width: '184px',
    isMinor: true,
    render: ({ charges }) => <Names names={charges?.map(describeKey) ?? []} />,
  },
  {
    id: 'requests',
    value: requestsOf,
    header: 'Requests',
    width: '88px',
    align: 'right',
    isMinor: true,
    render: requestsOf,
  },
  {
    id: 'key',
    header: 'Idempotency key',
    value: ({ key }) => key,
    width: '176px',
    isMinor: true,
    isHiddenAtFirst: true,
    render: ({ key }) => <CopyableId id={key} label="entry key" isShort />,
  },
  {
    id: 'amount',
    value: ({ amount_usd: usd }) => usd,
    header: 'Amount',
    width: '120px',
    align: 'right',
    render: ({ amount_usd: amountUsd }) => formatUsd(amountUsd),
  },
  {
    id: 'balance',
    value: ({ balance_usd: usd }) => usd,
    header: 'Balance after',
    width: '120px',
    align: 'right',
    isMinor: true,
    render: ({ balance_usd: balanceUsd }) => formatUsd(balanceUsd),
  },
]

type Charge = NonNullable<LedgerEntry['charges']>[number]

function requestsOf({ charges }: LedgerEntry): number | undefined {
  return charges?.reduce((sum, { requests }) => sum + requests, 0)
}

function WhatFor(entry: LedgerEntry) {
  if (entry.charges !== null) return <Names names={modelsOf(entry.charges)} />
  return <span className="text-ink-soft">{whatFor(entry)}</span>
}

function whatFor({ kind, reason, charges }: LedgerEntry): string {
  if (charges !== null) return modelsOf(charges).join(', ')
  return reason ?? (kind === 'charge' ? 'requests' : '')
}

function modelsOf(charges: readonly Charge[]): string[] {
  return charges.map(({ model }) => model ?? 'others')
}

function describeKey({ key_id: id, key_name: key, project_name: project }: Charge): string {
  if (id === null) return 'others'
  return project === null ? (key ?? id) : `${key ?? id}, ${project}`
}

const NAMES_SHOWN_MAX = 2

/** The first names, each once, with all of them as a tooltip. */
function Names({ names }: { readonly names: readonly string[] }) {
  const all = [...new Set(names)]
  const rest = all.length - NAMES_SHOWN_MAX
  return (
    <span title={all.join('\n')} className="text-ink-soft">
      {all.slice(0, NAMES_SHOWN_MAX).join(', ')}
      {rest > 0 && ` and ${rest} more`}
    </span>
  )
}
