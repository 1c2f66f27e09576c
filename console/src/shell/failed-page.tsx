import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { Page } from '../ui/layout/page.tsx'

/** Shown in the place of a page that failed to load or to render. */
export function FailedPage({ error, reset }: ErrorComponentProps) {
  return (
    <Page>
      <ErrorPanel title="This page could not be shown" error={error} onRetry={reset} />
    </Page>
  )
}
