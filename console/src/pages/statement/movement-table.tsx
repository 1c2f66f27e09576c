import type { Statement } from '../../api/statements.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatExactUsd } from '../../ui/format/format-usd.ts'
import { Time } from '../../ui/text/time.tsx'
import { MOVEMENT_NAMES } from './movement-names.ts'

type Movement = NonNullable<Statement['movements']>[number]

/** Top-ups, refunds, adjustments and so on, one by one. */
export function MovementTable({ statement }: { readonly statement: Statement }) {
  const { movements, has_more_movements: hasMore } = statement
  if (movements === null || movements.length === 0)
    return (
      <EmptyState icon="card" title="Only requests changed the credit">
        Top-ups, promo codes, refunds and adjustments of the month would be here.
      </EmptyState>
    )
  const rows = movements.map((movement, position) => ({ ...movement, position }))
  return (
    <div className="flex flex-col gap-2">
      <DataTable
        label="Movements"
        tools={{
          id: 'movements',
          part: hasMore ? 'the first ones. The CSV of the statement has all' : undefined,
        }}
        columns={COLUMNS}
        rows={rows}
        rowId={({ position }) => String(position)}
      />
    </div>
  )
}

const COLUMNS: readonly Column<Movement & { readonly position: number }>[] = [
  {
    id: 'at',
    header: 'Time',
    value: ({ at }) => at,
    width: '136px',
    render: ({ at }) => <Time at={at} form="short" />,
  },
  {
    id: 'kind',
    header: 'Kind',
    value: ({ kind }) => MOVEMENT_NAMES[kind],
    width: '208px',
    isMinor: true,
    render: ({ kind }) => MOVEMENT_NAMES[kind],
  },
  { id: 'reason', header: 'Reason', value: ({ reason }) => reason, render: ({ reason }) => reason ?? '' },
  {
    id: 'amount',
    header: 'Amount',
    value: ({ amount }) => amount.usd,
    width: '144px',
    align: 'right',
    render: ({ amount }) => formatExactUsd(amount.nano_usd),
  },
]
