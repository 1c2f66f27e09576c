import { Link } from '@tanstack/react-router'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { buttonClass } from '../ui/forms/button.tsx'
import { Page } from '../ui/layout/page.tsx'
import { PageHeader } from '../ui/layout/page-header.tsx'

export function NotFoundPage() {
  return (
    <Page>
      <PageHeader title="Not found" />
      <EmptyState
        icon="search"
        title="There is no such page"
        action={
          <Link to="/" className={buttonClass('primary')}>
            Go home
          </Link>
        }
      >
        The address may be mistyped, or what it showed was deleted.
      </EmptyState>
    </Page>
  )
}
