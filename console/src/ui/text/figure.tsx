import type { ReactNode } from 'react'
import { Skeleton } from '../feedback/skeleton.tsx'

interface FigureProps {
  readonly label: string
  /** The number as text. Undefined while it is loaded. */
  readonly value: string | undefined
  readonly unit?: string | undefined
  /** What it means or how it changed. */
  readonly note?: ReactNode
  readonly children?: ReactNode
}

/** One number with its unit. */
export function Figure({ label, value, unit, note, children }: FigureProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-xs font-medium text-ink-soft">{label}</p>
      {value === undefined ? (
        <Skeleton className="my-1 h-6 w-24" />
      ) : (
        <p className="tabular flex flex-wrap items-baseline gap-x-1 text-2xl/8 font-semibold tracking-tight">
          <span className="min-w-0 truncate">{value}</span>
          {unit && <span className="text-sm font-normal text-ink-soft">{unit}</span>}
        </p>
      )}
      {note && <p className="text-xs text-ink-faint">{note}</p>}
      {children}
    </div>
  )
}
