import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { accountQuery } from '../api/account.ts'
import { scopeOf } from '../api/permissions.ts'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { buttonClass } from '../ui/forms/button.tsx'
import { Page } from '../ui/layout/page.tsx'
import { PageHeader } from '../ui/layout/page-header.tsx'
import { findPage, mayOpen } from './navigation.ts'

/** The page of the address, or why the session cannot use it. */
export function PermittedPage() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const { data: account } = useQuery(accountQuery)
  const entry = findPage(path)
  // Shown until the rights are known, because pages load at the same time as the account.
  if (entry === undefined || account === undefined || mayOpen(entry, account)) return <Outlet />
  const { needs } = entry
  const person = account.session?.user
  return (
    <Page>
      <PageHeader title={entry.label} />
      <EmptyState
        icon="key"
        title={
          person
            ? 'Your role does not open this page'
            : `This page needs a key with the scope ${needs && scopeOf(needs)}`
        }
        action={
          <Link to="/" className={buttonClass('primary')}>
            Go home
          </Link>
        }
      >
        {person
          ? `It needs the permission ${needs}${account.session?.project ? ' in this project' : ''}. Ask whoever manages the roles for one that gives it.`
          : `The key of your session has only ${account.key.scopes.join(' and ')}. Sign in with another key, or ask whoever manages the keys for one.`}
      </EmptyState>
    </Page>
  )
}
