import { useEffect, useState } from 'react'
import { ApiError } from './api-error.ts'
import type { LiveOverview } from './operator.ts'

/** Two minutes, at an event every two seconds. */
const EVENTS_MAX = 60

interface LiveState {
  /** Oldest first. Empty until the first event. */
  readonly events: readonly LiveOverview[]
  /** Set while there is no connection. The browser tries again by itself. */
  readonly failure: ApiError | null
}

/** Follows the live figures of all processes while the page is open. */
export function useLiveOverview(): LiveState {
  const [state, setState] = useState<LiveState>({ events: [], failure: null })
  useEffect(() => {
    const source = new EventSource('/v1/admin/live')
    source.addEventListener('message', ({ data }) => {
      // A stream that the gateway ends has this or an error as its last event, before the browser connects again.
      if (typeof data !== 'string' || data === '[DONE]') return
      const overview: LiveOverview | { readonly error: unknown } = JSON.parse(data)
      if ('error' in overview) return
      setState(({ events }) => ({ events: [...events, overview].slice(-EVENTS_MAX), failure: null }))
    })
    source.addEventListener('error', () => {
      const failure = new ApiError('There is no connection to the live figures. It is tried again.')
      setState(({ events }) => ({ events, failure }))
    })
    return () => source.close()
  }, [])
  return state
}
