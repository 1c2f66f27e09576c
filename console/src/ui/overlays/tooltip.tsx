import { useId, useRef, type ReactNode } from 'react'

interface TooltipProps {
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
  const popup = useRef<HTMLSpanElement>(null)
  const show = (): void => {
    if (trigger.current === null || popup.current === null) return
    popup.current.showPopover()
    placeAbove(popup.current, trigger.current.getBoundingClientRect())
  }
  const hide = (): void => popup.current?.hidePopover()
  return (
    <span
      ref={trigger}
      aria-describedby={id}
      className={className}
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={(event) => event.key === 'Escape' && hide()}
    >
      {children}
      <span
        ref={popup}
        id={id}
        role="tooltip"
        popover="manual"
        className="fixed inset-auto m-0 max-w-80 rounded-md border border-line bg-surface px-2.5 py-1.5 text-left text-xs font-normal whitespace-normal text-ink shadow-float"
      >
        {content}
      </span>
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
