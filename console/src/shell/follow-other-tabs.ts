import type { QueryClient } from '@tanstack/react-query'
import { accountQuery } from '../api/account.ts'
import { announceSignedOut, handleSessionChange } from '../api/session-signals.ts'

/**
 * Keeps this tab in step with the session, which all tabs share. Without it, a tab would show what it has of one account beside
 * what it reads of another.
 */
export function followOtherTabs(queryClient: QueryClient): void {
  const reloadIfOther = async (): Promise<void> => {
    const before = queryClient.getQueryData(accountQuery.queryKey)
    if (before === undefined) return
    const now = await queryClient.fetchQuery({ ...accountQuery, staleTime: 0 })
    if (before.id !== now.id || before.key.id !== now.key.id) location.reload()
  }
  handleSessionChange((change) => {
    if (change === 'out') announceSignedOut()
    // If it cannot be read, the next request of the page tells so.
    else reloadIfOther().catch(() => {})
  })
}
