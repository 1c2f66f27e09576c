import type { Statement } from '../../api/statements.ts'
import { formatExactUsd } from '../../ui/format/format-usd.ts'
import { MOVEMENT_NAMES } from './movement-names.ts'

const ALWAYS: ReadonlySet<string> = new Set(['opening_balance', 'charges', 'closing_balance'])

/** From the opening to the closing balance. A project has only its charges, because credit belongs to the account. */
export function BalanceTable({ statement: { balance, charged } }: { readonly statement: Statement }) {
  const lines =
    balance === null
      ? [{ kind: 'charged', name: 'Charged', amount: charged }]
      : Object.entries(MOVEMENT_NAMES).flatMap(([kind, name]) => {
          const amount = balance[kind as keyof typeof MOVEMENT_NAMES]
          return amount.usd !== 0 || ALWAYS.has(kind) ? [{ kind, name, amount }] : []
        })
  return (
    <dl className="max-w-lg text-sm">
      {lines.map(({ kind, name, amount }) => (
        <div
          key={kind}
          className="flex justify-between gap-4 border-b border-line py-1.5 first:font-semibold last:border-b-0 last:font-semibold"
        >
          <dt>{name}</dt>
          <dd className="tabular">{formatExactUsd(amount.nano_usd)}</dd>
        </div>
      ))}
    </dl>
  )
}
