import type { ClosableProvider } from './create-provider.ts'

/** Providers that were removed or replaced. Requests that chose them before may still use them. */
export interface RetiredProviders {
  add(id: string, provider: ClosableProvider): void
  /** Returns the one that was retired last under this id. */
  find(id: string): ClosableProvider | undefined
  close(): Promise<void>
}

/** More than an operator changes within the time of a request. The oldest is closed first. */
const RETIRED_MAX = 1_000
const CHECKS_PER_TERM = 4

/** Closes each provider when no request can use it any more. */
export function createRetiredProviders(retireMs: number): RetiredProviders {
  /** In the order of their retirement. */
  const retired = new Map<ClosableProvider, { readonly id: string; readonly untilMs: number }>()
  let timer: NodeJS.Timeout | null = null

  const close = (provider: ClosableProvider): void => {
    retired.delete(provider)
    provider.close?.().catch(() => {})
  }
  const closeExpired = (): void => {
    for (const [provider, { untilMs }] of retired) if (performance.now() >= untilMs) close(provider)
    if (retired.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    add: (id, provider) => {
      retired.set(provider, { id, untilMs: performance.now() + retireMs })
      const [oldest] = retired.keys()
      if (retired.size > RETIRED_MAX && oldest !== undefined) close(oldest)
      timer ??= setInterval(closeExpired, Math.max(1, retireMs / CHECKS_PER_TERM)).unref()
    },
    find: (id) => [...retired].findLast(([, one]) => one.id === id)?.[0],
    close: async () => {
      if (timer !== null) clearInterval(timer)
      for (const provider of retired.keys()) await provider.close?.()
    },
  }
}
