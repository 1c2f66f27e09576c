import { lazy, Suspense, useSyncExternalStore } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import type { ToastContent } from './toast-content.ts'

const ToastStack = lazy(async () => ({ default: (await import('./toast-stack.tsx')).ToastStack }))

let waiting: readonly ToastContent[] | null = null
const listeners = new Set<() => void>()

/** Says for a few seconds that something was done. */
export function showToast(title: string, description?: string): void {
  setWaiting([...(waiting ?? []), { title, description, isFailure: false }])
}

/** Says that an action failed, with the message and request id of the API. */
export function showFailure(title: string, error: unknown): void {
  const { message, requestId } = describeFailure(error)
  const description = requestId === null ? message : `${message} (${requestId})`
  setWaiting([...(waiting ?? []), { title, description, isFailure: true }])
}

/** The place of all toasts. Once in the page. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => waiting)
  if (shown === null) return null
  return (
    <Suspense>
      <ToastStack waiting={shown} take={takeWaiting} />
    </Suspense>
  )
}

const NONE: readonly ToastContent[] = []

function takeWaiting(): readonly ToastContent[] {
  const taken = waiting ?? NONE
  setWaiting(NONE)
  return taken
}

function setWaiting(next: readonly ToastContent[]): void {
  waiting = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
