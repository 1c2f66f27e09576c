import type { ReactNode } from 'react'
import { Button } from '../forms/button.tsx'

interface FilterBarProps {
  /** `SearchField` and `SelectField`. Their values belong in the search parameters of the route. */
  readonly children: ReactNode
  /** Given while a filter is set. */
  readonly onClear?: (() => void) | undefined
  /** Such as "38 requests". */
  readonly count?: string | undefined
}

/** The filters of a list, in one line where there is room. */
export function FilterBar({ children, onClear, count }: FilterBarProps) {
  return (
    <div role="search" className="flex flex-wrap items-center gap-2">
      {children}
      {onClear && (
        <Button kind="quiet" icon="close" onClick={onClear}>
          Clear
        </Button>
      )}
      {count && <span className="tabular ml-auto text-xs text-ink-faint">{count}</span>}
    </div>
  )
}
