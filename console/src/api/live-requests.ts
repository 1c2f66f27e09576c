import { useEffect, useState } from 'react'
import type { AdminRequest, AdminRequestFilters } from './admin-requests.ts'
import { ApiError } from './api-error.ts'
import type { Schemas } from './client.ts'

/** Above this, older requests leave the list. */
const REQUESTS_MAX = 500

interface LiveRequests {
  /** Newest first. Null until the first event. */
  readonly requests: readonly AdminRequest[] | null
  /** Whether more requests ended than the gateway told. */
  readonly isCut: boolean
  /** Set while there is no connection. The browser tries again by itself. */
  readonly failure: ApiError | null
}

const NOTHING: LiveRequests = { requests: null, isCut: false, failure: null }

/** Follows the requests of all accounts that end, while the page is open. Other filters need another component. */
export function useLiveRequests({
  period: _period,
  since: _since,
  until: _until,
  request_id: _id,
  ...filters
}: AdminRequestFilters): LiveRequests {
  const [state, setState] = useState(NOTHING)
  const query = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => (value ? [[name, String(value)]] : [])),
  ).toString()
  useEffect(() => {
    const source = new EventSource(`/v1/admin/requests/live?${query}`)
    source.addEventListener('message', ({ data }) => {
      // A stream that the gateway ends has this or an error as its last event, before the browser connects again.
      if (typeof data !== 'string' || data === '[DONE]') return
      const event: Schemas['LiveRequests'] | { readonly error: unknown } = JSON.parse(data)
      if ('error' in event) return
      setState(({ requests }) => ({
        requests: addNewest(requests ?? [], event.data),
        isCut: event.is_cut,
        failure: null,
      }))
    })
    source.addEventListener('error', () => {
      const failure = new ApiError('There is no connection to the live requests. It is tried again.')
      setState((last) => ({ ...last, failure }))
    })
    return () => source.close()
  }, [query])
  return state
}

/** A new connection tells the last requests again. */
function addNewest(known: readonly AdminRequest[], ended: readonly AdminRequest[]): readonly AdminRequest[] {
  const ids = new Set(known.map(({ id }) => id))
  const fresh = ended.filter(({ id }) => !ids.has(id)).toReversed()
  return fresh.length === 0 ? known : [...fresh, ...known].slice(0, REQUESTS_MAX)
}
