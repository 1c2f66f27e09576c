import type { Clock } from '../kernel/clock.ts'
import { createProvider, type ClosableProvider, type ProviderSettings } from './create-provider.ts'
import type { AllowanceOf } from './connection/key-limits.ts'
import { rememberSecrets } from './failures/scrub-upstream-text.ts'
import type { Provider } from './provider.ts'
import { createRetiredProviders } from './retired-providers.ts'
import { listDocumentTexts } from './sign-in/sign-in-document.ts'
import { nameVendors } from './vendors.ts'

/** All providers of one moment, by id. Never changed, so that whoever holds it sees one state. */
type ProviderSet = ReadonlyMap<string, Provider>

export interface ProviderRegistry {
  /** The providers in use. Another object after each change. */
  readonly current: ProviderSet
  get(id: string): Provider | undefined
  /** Like `get`, and finds one that was removed lately, which may have to be asked about work that it took before. */
  find(id: string): Provider | undefined
  /** Serves requests with keys of the dev and test environments if no route of the model is configured. */
  readonly sandbox: Provider
  /** Adds a provider that the gateway created itself, under an id that no configured provider has. */
  add(id: string, provider: Provider): void
  /**
   * Replaces all providers that were given here before, at once. Those of the start keep their names. One whose settings are the same
   * is kept with its connections and resting keys; one that is gone finishes the requests that use it. Returns whether a name belongs to
   * another vendor now.
   */
  replace(settings: ReadonlyMap<string, ProviderSettings>): boolean
  /** Creates a provider that nobody uses, to try settings, whatever the limits of its keys. Null if they lack something. Whoever gets it closes it. */
  create(id: string, settings: ProviderSettings): ClosableProvider | null
  /** Calls the listener with each provider that was removed or replaced. */
  onRetired(listener: (provider: Provider) => void): void
  /** Whether a provider of the start, or one that the gateway created, has this id. */
  isFixed(id: string): boolean
  close(): Promise<void>
}

interface RegistryOptions {
  /** By provider id. An id that is not built in denotes another OpenAI-compatible server. */
  readonly settings: ReadonlyMap<string, ProviderSettings>
  readonly sandbox: Provider
  readonly clock: Clock
  readonly connectTimeoutMs: number
  readonly allowanceOf?: AllowanceOf
  /** How long a request may use a provider after it was removed. */
  readonly retireMs?: number
}

/** Longer than a request may take by default. */
const RETIRE_MS = 15 * 60_000

/** Returns the keys, both halves of keys that consist of two, and the configured address with its host. */
function secretsOf({ apiKeys, baseUrl, headers = [], path = {} }: ProviderSettings): string[] {
  const addresses = [baseUrl, path.proxy?.url].filter((url) => typeof url === 'string')
  const hosts = addresses.flatMap((url) => [url, new URL(url).host])
  const { username = '', password = '' } = path.proxy ?? {}
  const ofProxy = password === '' ? [] : [password, Buffer.from(`${username}:${password}`).toString('base64')]
  const values = headers.filter((_, index) => index % 2 === 1)
  // A vendor may repeat a credential without the scheme before it.
  const credentials = values.flatMap((value) => /^[\w-]+ (\S+)$/.exec(value)?.[1] ?? [])
  const parts = apiKeys.flatMap((key) => (key.startsWith('{') ? listDocumentTexts(key) : key.split(':')))
  return [...apiKeys, ...parts, ...hosts, ...ofProxy, ...values, ...credentials]
}

interface ReplaceableProvider {
  readonly provider: ClosableProvider
  /** Its settings as text, to tell whether they changed. */
  readonly settings: string
}

/** Creates a registry of the sandbox and the configured providers. A provider that is absent is not configured. */
export function createProviderRegistry(options: RegistryOptions): ProviderRegistry {
  const fixed = new Map<string, ClosableProvider>([[options.sandbox.id, options.sandbox]])
  const create = (
    id: string,
    settings: ProviderSettings,
    { isTried = false } = {},
  ): ClosableProvider | null => {
    rememberSecrets(secretsOf(settings))
    return createProvider(id, settings, isTried ? { ...options, allowanceOf: undefined } : options)
  }
  for (const [id, settings] of options.settings) {
    const provider = create(id, settings)
    if (provider) fixed.set(id, provider)
  }
  const retired = createRetiredProviders(options.retireMs ?? RETIRE_MS)
  let replaceable: ReadonlyMap<string, ReplaceableProvider> = new Map()
  let current: ProviderSet = new Map(fixed)
  const listeners: ((provider: Provider) => void)[] = []

  const publish = (): void => {
    const providers = [...replaceable].map(([id, { provider }]) => [id, provider] as const)
    current = new Map<string, Provider>([...providers, ...fixed])
  }

  return {
    get current() {
      return current
    },
    get: (id) => current.get(id),
    find: (id) => current.get(id) ?? retired.find(id),
    sandbox: options.sandbox,
    add: (id, provider) => {
      fixed.set(id, provider)
      publish()
    },
    replace: (all) => {
      const before = replaceable
      const next = new Map<string, ReplaceableProvider>()
      const isRenamed = nameVendors(all)
      for (const [id, settings] of all) {
        const text = JSON.stringify(settings, (_, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        )
        const known = before.get(id)
        if (known?.settings === text) {
          next.set(id, known)
          continue
        }
        const provider = create(id, settings)
        if (provider) next.set(id, { provider, settings: text })
      }
      replaceable = next
      publish()
      for (const [id, { provider }] of before) {
        if (next.get(id)?.provider === provider) continue
        retired.add(id, provider)
        for (const listener of listeners) listener(provider)
      }
      return isRenamed
    },
    create: (id, settings) => create(id, settings, { isTried: true }),
    onRetired: (listener) => void listeners.push(listener),
    isFixed: (id) => fixed.has(id) || options.settings.has(id),
    close: async () => {
      for (const provider of fixed.values()) await provider.close?.()
      for (const { provider } of replaceable.values()) await provider.close?.()
      await retired.close()
    },
  }
}
