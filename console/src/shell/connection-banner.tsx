import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { accountQuery } from '../api/account.ts'
import { reachability } from '../api/reachability.ts'
import { Icon } from '../ui/icon.tsx'

const TRY_MS = 3_000

/** Says on every page that the gateway does not answer, tries again, and repeats what failed when it is back. */
export function ConnectionBanner() {
  const isReachable = useSyncExternalStore(reachability.subscribe, reachability.read)
  const queryClient = useQueryClient()
  const router = useRouter()
  const wasAway = useRef(false)
  useEffect(() => {
    if (isReachable) {
      if (wasAway.current) {
        void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null })
        // A page whose script could not be loaded.
        void router.invalidate()
      }
      wasAway.current = false
      return undefined
    }
    wasAway.current = true
    const timer = setInterval(
      () => void queryClient.refetchQueries({ queryKey: accountQuery.queryKey, exact: true }),
      TRY_MS,
    )
    return () => clearInterval(timer)
  }, [isReachable, queryClient, router])
  return (
    <div role="status">
      {!isReachable && (
        <p className="flex items-center gap-2 border-b border-line bg-warn-soft px-4 py-2 text-sm sm:px-6">
          <Icon name="warn" className="shrink-0 text-warn" />
          The gateway cannot be reached. Trying again…
        </p>
      )}
    </div>
  )
}
