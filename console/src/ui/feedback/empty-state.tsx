import type { ReactNode } from 'react'
import { Icon, type IconName } from '../icon.tsx'

interface EmptyStateProps {
  readonly icon: IconName
  readonly title: string
  /** Why it is empty, in a sentence. */
  readonly children?: ReactNode
  /** The one thing to do next. */
  readonly action?: ReactNode
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-1 rounded-lg border border-dashed border-line-strong px-6 py-12 text-center">
      <Icon name={icon} className="mb-2 size-6 text-ink-faint" />
      <p className="text-sm font-medium">{title}</p>
      {children && <div className="max-w-md text-sm text-ink-soft">{children}</div>}
      {action && <div className="mt-3 flex w-full justify-center empty:hidden">{action}</div>}
    </div>
  )
}
