import type { ReactNode } from 'react'

interface FactListProps {
  readonly facts: readonly { readonly label: string; readonly value: ReactNode }[]
}

/** Names and values in two columns. */
export function FactList({ facts }: FactListProps) {
  return (
    <dl className="grid grid-cols-[minmax(112px,auto)_1fr] gap-x-4 gap-y-1 text-sm">
      {facts.map(({ label, value }) => (
        <div key={label} className="col-span-2 grid min-h-6 grid-cols-subgrid items-center">
          <dt className="text-ink-soft">{label}</dt>
          <dd className="tabular min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
