import type { ReactNode } from 'react'

interface RowLinkProps {
  readonly onOpen: () => void
  readonly children: ReactNode
}

/** Opens the details of a row with the keyboard. A click anywhere on the row does the same. */
export function RowLink({ onOpen, children }: RowLinkProps) {
  return (
    <button
      type="button"
      onClick={(event) => {
        event.stopPropagation()
        onOpen()
      }}
      className="max-w-full truncate rounded text-left font-medium hover:text-accent hover:underline"
    >
      {children}
    </button>
  )
}
