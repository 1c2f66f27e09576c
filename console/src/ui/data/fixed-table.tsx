import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'

interface FixedTableProps {
  /** What the table shows, for screen readers. */
  readonly label: string
  /** Why nobody wants to sort it or to save it. For whoever reads the code. */
  readonly reason: string
  /** Shown above the table. */
  readonly caption?: string | undefined
  readonly frameClass?: string | undefined
  readonly className?: string | undefined
  readonly children: ReactNode
}

/** A table whose rows have one right order: a matrix, or the parts of one thing. Lists of things are a `DataTable`. */
export function FixedTable({ label, caption, frameClass, className, children }: FixedTableProps) {
  return (
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className={classNames('overflow-x-auto -outline-offset-2', frameClass)}
    >
      <table aria-label={label} className={classNames('text-sm', className)}>
        {caption !== undefined && (
          <caption className="pb-2 text-left text-xs text-ink-faint">{caption}</caption>
        )}
        {children}
      </table>
    </div>
  )
}
