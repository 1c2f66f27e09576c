let isReachable = true
const listeners = new Set<() => void>()

/** Notes whether the last request got an answer of the gateway. */
export function noteReachable(now: boolean): void {
  if (now === isReachable) return
  isReachable = now
  for (const listener of listeners) listener()
}

/** Whether the gateway answers, for `useSyncExternalStore`. */
export const reachability = {
  read: (): boolean => isReachable,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}
