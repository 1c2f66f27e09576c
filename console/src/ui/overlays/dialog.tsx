import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { IconButton } from '../forms/icon-button.tsx'

interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly description?: ReactNode
  /** Buttons, the main one last. */
  readonly actions?: ReactNode
  readonly isWide?: boolean | undefined
  readonly children?: ReactNode
}

/** A question or a form that must be dealt with first. */
export function Dialog({ title, isOpen, onClose, description, actions, isWide, children }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          className={classNames(
            'fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-32px)] w-[calc(100vw-32px)] -translate-1/2 flex-col rounded-lg border border-line bg-surface shadow-float',
            isWide ? 'max-w-3xl' : 'max-w-md',
          )}
        >
          <div className="flex items-start justify-between gap-4 px-5 pt-4">
            <Base.Title className="pt-1 text-base font-semibold">{title}</Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" className="-mr-2" />} />
          </div>
          <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pt-1 pb-5">
            {description && (
              <Base.Description render={<div />} className="text-sm text-ink-soft">
                {description}
              </Base.Description>
            )}
            {children}
          </div>
          {actions && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{actions}</div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
