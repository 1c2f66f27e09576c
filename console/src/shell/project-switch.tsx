import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { accountQuery } from '../api/account.ts'
import { Icon } from '../ui/icon.tsx'

const ProjectDialog = lazy(async () => ({ default: (await import('./project-dialog.tsx')).ProjectDialog }))

/** The project that the session works in, and the way to another. Absent where there is nothing to choose. */
export function ProjectSwitch() {
  const { data: account } = useQuery(accountQuery)
  const [isOpen, setIsOpen] = useState(false)
  const session = account?.session
  if (!session || (session.project === null && !session.has_projects)) return null
  const name = session.project?.name ?? 'All projects'
  if (!session.has_projects) return <span className="max-w-40 truncate text-sm max-sm:max-w-24">{name}</span>
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={`Project: ${name}`}
        className="flex h-8 min-w-0 items-center gap-1.5 rounded-md border border-line px-2 text-sm hover:bg-hover"
        onClick={() => setIsOpen(true)}
      >
        <Icon name="folder" className="text-ink-faint" />
        <span className="max-w-40 truncate max-sm:max-w-24">{name}</span>
        <Icon name="down" className="text-ink-faint" />
      </button>
      {isOpen && (
        <Suspense>
          <ProjectDialog currentId={session.project?.id ?? null} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
