import type { Provider } from './provider.ts'

export type ClosableProvider = Provider & { close?(): Promise<void> }

/** One upstream whose operations are adapters of several kinds. Where two offer the same, the earlier counts. */
export function combineProviders(parts: readonly ClosableProvider[]): ClosableProvider | null {
  const [first] = parts
  if (first === undefined || parts.length === 1) return first ?? null
  return {
    ...Object.assign({}, ...parts.toReversed()),
    isConfigured: parts.some((part) => part.isConfigured),
    close: async () => {
      for (const part of parts) await part.close?.()
    },
  }
}
