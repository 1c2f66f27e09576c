import { useRouter } from '@tanstack/react-router'
import { useCallback } from 'react'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether this step of the history opened details of a row. */
    readonly isDetail?: boolean | undefined
  }
}

/** For `navigate`: opens details as a step of the history, so that the browser's Back closes them. */
export const AS_DETAIL = { state: { isDetail: true } } as const

/**
 * Returns a function that closes details. If the page opened them it goes back, so that Back afterwards leaves the page.
 * @param replace closes details that were opened by their address
 */
export function useCloseDetail(replace: () => void): () => void {
  const { history } = useRouter()
  return useCallback(() => {
    if (history.location.state.isDetail === true) history.back()
    else replace()
  }, [history, replace])
}
