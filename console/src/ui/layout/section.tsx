import { useId, type ReactNode } from 'react'
import { classNames } from '../class-names.ts'

interface SectionProps {
  readonly title?: string | undefined
  readonly actions?: ReactNode
  readonly className?: string | undefined
  readonly children: ReactNode
}

/** A part of a page on its own surface. */
export function Section({ title, actions, className, children }: SectionProps) {
  const id = useId()
  return (
    <section
      aria-labelledby={title ? id : undefined}
      className={classNames('min-w-0 rounded-lg border border-line bg-surface', className)}
    >
      {title && (
        <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 id={id} className="text-sm font-semibold">
            {title}
          </h2>
          {actions}
        </div>
      )}
      <div className="p-4">{children}</div>
    </section>
  )
}
