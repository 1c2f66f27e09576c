import { useSyncExternalStore } from 'react'

/** The width below which minor columns are left out, as `max-md` of the styles. */
const NARROW = window.matchMedia('(width < 48rem)')

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => NARROW.matches)
}

function subscribe(listener: () => void): () => void {
  NARROW.addEventListener('change', listener)
  return () => NARROW.removeEventListener('change', listener)
}
