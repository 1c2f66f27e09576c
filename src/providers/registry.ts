import type { Clock } from '../kernel/clock.ts'
import { createProvider, type ClosableProvider, type ProviderSettings } from './create-provider.ts'
import type { Provider } from './provider.ts'
import { rememberSecrets } from './scrub-upstream-text.ts'

export interface ProviderRegistry {
  get(id: string): Provider | undefined
  /** Serves keys of the dev and test environments where no route of a model is configured. */
  readonly sandbox: Provider
  /** One that the gateway makes itself, under a key that no configured one has. */
  add(id: string, provider: Provider): void
  close(): Promise<void>
}

interface RegistryOptions {
  /** By provider id. An id that is not built in is taken for another OpenAI-compatible server. */
  readonly settings: ReadonlyMap<string, ProviderSettings>
  readonly sandbox: Provider
  readonly clock: Clock
  readonly connectTimeoutMs: number
}

/** The keys, each half of a double one, and where a server of the operator's own stands. */
function secretsOf({ apiKeys, baseUrl }: ProviderSettings): string[] {
  const hosts = baseUrl === null ? [] : [baseUrl, new URL(baseUrl).host]
  return [...apiKeys, ...apiKeys.flatMap((key) => key.split(':')), ...hosts]
}

/** Holds what the operator configured, and nothing else: a provider that is absent is not configured. */
export function createProviderRegistry(options: RegistryOptions): ProviderRegistry {
  const providers = new Map<string, ClosableProvider>([[options.sandbox.id, options.sandbox]])
  for (const [id, settings] of options.settings) {
    rememberSecrets(secretsOf(settings))
    const provider = createProvider(id, settings, options)
    if (provider) providers.set(id, provider)
  }
  return {
    get: (id) => providers.get(id),
    sandbox: options.sandbox,
    add: (id, provider) => void providers.set(id, provider),
    close: async () => {
      for (const provider of providers.values()) await provider.close?.()
    },
  }
}
