import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'

/** The frame of a page: its margins and the distance between its parts. */
export function Page({ isWide, children }: { readonly isWide?: boolean; readonly children: ReactNode }) {
  return (
    <div
      className={classNames(
        'flex w-full flex-col gap-6 px-4 py-6 sm:px-6',
        isWide ? 'max-w-none' : 'max-w-7xl',
      )}
    >
      {children}
    </div>
  )
}
