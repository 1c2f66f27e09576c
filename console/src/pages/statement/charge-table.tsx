import { useMemo } from 'react'
import type { ChargeLine } from '../../api/statements.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCount, formatShare } from '../../ui/format/format-count.ts'
import { formatExactUsd } from '../../ui/format/format-usd.ts'

interface ChargeTableProps {
  readonly by: keyof typeof HEADERS
  readonly lines: readonly ChargeLine[]
  readonly totalUsd: number
  /** Opens what one project was charged. */
  readonly onProject?: ((id: string) => void) | undefined
}

const HEADERS = { model: 'Model', project: 'Project', key: 'Key', day: 'Day (UTC)' } as const

/** The charges of a month, a line each. */
export function ChargeTable({ by, lines, totalUsd, onProject }: ChargeTableProps) {
  const columns = useMemo(() => columnsOf(by, totalUsd), [by, totalUsd])
  if (lines.length === 0)
    return (
      <EmptyState icon="usage" title="Nothing was charged in this month">
        Requests that cost something appear here, moments after they end.
      </EmptyState>
    )
  const opens = by === 'project' && onProject
  return (
    <DataTable
      label={`Charges by ${by}`}
      tools={{ id: 'charges' }}
      columns={columns}
      rows={lines}
      rowId={({ id, name }) => id ?? name}
      onOpen={opens ? ({ id }) => id !== null && opens(id) : undefined}
    />
  )
}

function columnsOf(by: keyof typeof HEADERS, totalUsd: number): readonly Column<ChargeLine>[] {
  return [
    {
      id: 'name',
      value: ({ name }) => name,
      header: HEADERS[by],
      render: ({ name }) => <span title={name}>{name}</span>,
    },
    {
      id: 'requests',
      value: ({ requests }) => requests,
      header: 'Requests',
      width: '112px',
      align: 'right',
      isMinor: true,
      render: ({ requests }) => formatCount(requests),
    },
    {
      id: 'share',
      header: 'Share',
      value: ({ charged }) => (totalUsd === 0 ? null : charged.usd / totalUsd),
      width: '88px',
      align: 'right',
      render: ({ charged }) => (totalUsd === 0 ? '' : formatShare(charged.usd / totalUsd)),
    },
    {
      id: 'charged',
      value: ({ charged }) => charged.usd,
      header: 'Charged',
      width: '144px',
      align: 'right',
      render: ({ charged }) => formatExactUsd(charged.nano_usd),
    },
  ]
}
