import { useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { AccountCorner } from './account-corner.tsx'
import { CommandPalette } from './command-palette.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { NavigationList } from './navigation-list.tsx'
import { PermittedPage } from './permitted-page.tsx'
import { ProjectSwitch } from './project-switch.tsx'
import { UnlessProjectRefused } from './refused-project.tsx'
import { Wordmark } from './wordmark.tsx'

const NavigationSheet = lazy(async () => ({
  default: (await import('./navigation-sheet.tsx')).NavigationSheet,
}))

/** Navigation at the left, the account in the corner, and the page. */
export function Shell() {
  const [isMenuOpen, setIsMenuOpen] = useState(false)
  return (
    <div className="flex h-full">
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2"
      >
        Skip to the page
      </a>
      <div className="flex w-56 shrink-0 flex-col gap-4 overflow-y-auto border-r border-line bg-surface px-3 py-4 max-md:hidden">
        <Wordmark />
        <NavigationList />
      </div>
      <div className="flex min-w-0 grow flex-col">
        <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line bg-surface px-4 sm:px-6">
          <IconButton
            icon="menu"
            label="Open the navigation"
            className="-ml-2 md:hidden"
            onClick={() => setIsMenuOpen(true)}
          />
          <CommandPalette />
          <div className="grow" />
          <ProjectSwitch />
          <AccountCorner />
        </header>
        <ConnectionBanner />
        <LoadingLine />
        <main id="page" tabIndex={-1} className="min-h-0 grow overflow-y-auto outline-none">
          <UnlessProjectRefused>
            <PermittedPage />
          </UnlessProjectRefused>
        </main>
      </div>
      {isMenuOpen && (
        <Suspense>
          <NavigationSheet onClose={() => setIsMenuOpen(false)} />
        </Suspense>
      )}
      <ConfirmDialog />
    </div>
  )
}

/** Says that the next page is on its way. */
function LoadingLine() {
  const isLoading = useRouterState({ select: ({ status }) => status === 'pending' })
  return (
    <div role="status" aria-live="polite" className="relative z-20 h-0">
      {isLoading && (
        <>
          <div className="absolute inset-x-0 -top-px h-0.5 animate-pulse bg-accent" />
          <span className="sr-only">Loading the page</span>
        </>
      )}
    </div>
  )
}
