import { useSyncExternalStore, type ReactNode } from 'react'
import { refusedProject } from '../api/project.ts'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { buttonClass } from '../ui/forms/button.tsx'
import { Page } from '../ui/layout/page.tsx'
import { PageHeader } from '../ui/layout/page-header.tsx'
import { CopyableId } from '../ui/text/copyable-id.tsx'

/** The page, or why its link leads to a project that the session cannot enter. */
export function UnlessProjectRefused({ children }: { readonly children: ReactNode }) {
  const projectId = useSyncExternalStore(refusedProject.subscribe, refusedProject.read)
  if (projectId === null) return children
  return (
    <Page>
      <PageHeader title="No access to this project" />
      <EmptyState
        icon="folder"
        title="This link leads to a project that you are not in"
        action={
          // A new page without the project of this one.
          <a href="/" className={buttonClass('primary')}>
            Continue without it
          </a>
        }
      >
        <p>
          The project may be archived, or belong to another account. Otherwise ask one of its owners to add
          you, or sign in as somebody who is in it.
        </p>
        <p className="mt-2">
          <CopyableId id={projectId} label="project id" />
        </p>
      </EmptyState>
    </Page>
  )
}
