import type { Clock } from '../kernel/clock.ts'
import { createProvider, type ClosableProvider, type ProviderSettings } from './create-provider.ts'
import type { Provider } from './provider.ts'
import { rememberSecrets } from './failures/scrub-upstream-text.ts'

export interface ProviderRegistry {
  get(id: string): Provider | undefined
  /** Serves requests with keys of the dev and test environments if no route of the model is configured. */
  readonly sandbox: Provider
  /** Adds a provider that the gateway created itself, under an id that no configured provider has. */
  add(id: string, provider: Provider): void
  close(): Promise<void>
}

interface RegistryOptions {
  /** By provider id. An id that is not built in denotes another OpenAI-compatible server. */
  readonly settings: ReadonlyMap<string, ProviderSettings>
  readonly sandbox: Provider
  readonly clock: Clock
  readonly connectTimeoutMs: number
}

/** Returns the keys, both halves of keys that consist of two, and the configured address with its host. */
function secretsOf({ apiKeys, baseUrl }: ProviderSettings): string[] {
  const hosts = baseUrl === null ? [] : [baseUrl, new URL(baseUrl).host]
  return [...apiKeys, ...apiKeys.flatMap((key) => key.split(':')), ...hosts]
}

/** Creates a registry of the sandbox and the configured providers. A provider that is absent is not configured. */
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
