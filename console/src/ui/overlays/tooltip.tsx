import { useCallback, useId, useRef, useState, type ReactNode } from 'react'

interface TooltipProps {
  /** Rendered when it is shown. */
  readonly content: ReactNode
  readonly children: ReactNode
  readonly className?: string | undefined
}

const GAP_PX = 6

/**
 * An explanation on hover and on focus. Nothing that is needed may be only here. It is a popover of the browser, so that no
 * scrolling parent cuts it off.
 */
export function Tooltip({ content, children, className }: TooltipProps) {
  const id = useId()
  const trigger = useRef<HTMLSpanElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const place = useCallback((popup: HTMLSpanElement | null) => {
    if (popup === null || trigger.current === null) return
    popup.showPopover()
    placeAbove(popup, trigger.current.getBoundingClientRect())
  }, [])
  const show = (): void => setIsOpen(true)
  const hide = (): void => setIsOpen(false)
  return (
    <span
      ref={trigger}
      aria-describedby={isOpen ? id : undefined}
      className={className}
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={(event) => event.key === 'Escape' && hide()}
    >
      {children}
      {isOpen && (
        <span
          ref={place}
          id={id}
          role="tooltip"
          popover="manual"
          className="fixed inset-auto m-0 max-w-80 rounded-md border border-line bg-surface px-2.5 py-1.5 text-left text-xs font-normal whitespace-normal text-ink shadow-float"
        >
          {content}
        </span>
      )}
    </span>
  )
}

/** Above the trigger, or below it where there is no room, and never outside of the window. */
function placeAbove(popup: HTMLElement, target: DOMRect): void {
  const { width, height } = popup.getBoundingClientRect()
  const left = target.left + target.width / 2 - width / 2
  const top = target.top - height - GAP_PX
  popup.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - width - GAP_PX))}px`
  popup.style.top = `${top < GAP_PX ? target.bottom + GAP_PX : top}px`
}
