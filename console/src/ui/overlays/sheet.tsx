import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { IconButton } from '../forms/icon-button.tsx'

interface SheetProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly side: 'left' | 'right'
  readonly isTitleHidden?: boolean | undefined
  readonly children: ReactNode
}

/** A panel at the side of the page: the navigation on a phone, the details of a row. */
export function Sheet({ title, isOpen, onClose, side, isTitleHidden, children }: SheetProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          className={classNames(
            'fixed inset-y-0 z-40 flex flex-col border-line bg-surface shadow-float transition-transform duration-150',
            side === 'left'
              ? 'left-0 w-72 border-r data-ending-style:-translate-x-full data-starting-style:-translate-x-full'
              : 'right-0 w-full max-w-xl border-l data-ending-style:translate-x-full data-starting-style:translate-x-full',
          )}
        >
          <div className="flex h-14 shrink-0 items-center justify-between gap-4 px-4">
            <Base.Title className={isTitleHidden ? 'sr-only' : 'truncate text-base font-semibold'}>
              {title}
            </Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" className="-mr-2 ml-auto" />} />
          </div>
          <div className="min-h-0 grow overflow-y-auto px-4 pb-6">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
