import { useEffect, type ReactNode } from 'react'

interface PageHeaderProps {
  readonly title: string
  /** What the page is for, in a sentence. */
  readonly description?: ReactNode
  /** Buttons, the main one last. */
  readonly actions?: ReactNode
}

/** The first thing of every page. Also names the tab of the browser. */
export function PageHeader({ title, description, actions }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Parkway`
  }, [title])
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 className="truncate text-lg font-semibold tracking-tight">{title}</h1>
        {description && <p className="max-w-2xl text-sm text-ink-soft">{description}</p>}
      </div>
      {actions && <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">{actions}</div>}
    </header>
  )
}
