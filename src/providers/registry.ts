import type { Clock } from '../kernel/clock.ts'
import {
  createAssemblyAiProvider,
  createDeepgramProvider,
  createElevenLabsProvider,
} from './ai-sdk/audio/audio-providers.ts'
import { createAnthropicProvider } from './ai-sdk/anthropic-provider.ts'
import { createGoogleProvider } from './ai-sdk/google-provider.ts'
import type { AiSdkProviderOptions } from './ai-sdk/lazy-provider.ts'
import { createMediaProvider } from './ai-sdk/media/media-providers.ts'
import {
  createCohereProvider,
  createGoogleEmbeddingProvider,
  createVoyageProvider,
} from './ai-sdk/text/text-providers.ts'
import { createCredentialRing } from './credential-ring.ts'
import { createOpenAiCompatibleProvider } from './openai-compatible/openai-compatible.ts'
import {
  EVERY_OPERATION,
  OPENAI_COMPATIBLE_UPSTREAMS,
  type OpenAiCompatibleUpstream,
} from './openai-compatible/upstreams.ts'
import type { NativeWire } from './native-wire.ts'
import type { Provider } from './provider.ts'
import { rememberSecrets } from './scrub-upstream-text.ts'

/** What the operator says of one upstream. */
export interface ProviderSettings {
  readonly apiKeys: readonly string[]
  readonly baseUrl: string | null
  /** Members of requests that the operator lets through although they change the bill. */
  readonly allowedMembers?: readonly string[]
  /** The wires it speaks besides chat, where the operator says so. */
  readonly wires?: readonly NativeWire[]
}

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

type CreateAdapter = (options: AiSdkProviderOptions) => ClosableProvider

/** Upstreams that do not speak the OpenAI wire, or not for everything, and have adapters of their own. */
const ADAPTERS: Readonly<Record<string, readonly CreateAdapter[]>> = {
  anthropic: [createAnthropicProvider],
  google: [createGoogleProvider, createGoogleEmbeddingProvider],
  cohere: [createCohereProvider],
  voyage: [createVoyageProvider],
  elevenlabs: [createElevenLabsProvider],
  deepgram: [createDeepgramProvider],
  assemblyai: [createAssemblyAiProvider],
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

function createProvider(
  id: string,
  settings: ProviderSettings,
  options: RegistryOptions,
): ClosableProvider | null {
  const { apiKeys, baseUrl, allowedMembers = [] } = settings
  if (apiKeys.length === 0 && baseUrl === null) return null
  const adapters = ADAPTERS[id] ?? []
  const { clock } = options
  const adapterOptions = { apiKeys, clock, ...(baseUrl === null ? {} : { baseUrl }) }
  const media = createMediaProvider(id, adapterOptions)
  const upstream =
    OPENAI_COMPATIBLE_UPSTREAMS.find((known) => known.id === id) ??
    (adapters.length === 0 && media === null ? customUpstream(id, apiKeys.length > 0) : null)
  // A vendor with an adapter has a key, whatever its address.
  const hasWire = upstream !== null && (adapters.length === 0 || apiKeys.length > 0)
  const wire = hasWire ? createWireProvider(upstream, settings, options) : null
  const provider = combineProviders([
    ...(wire ? [wire] : []),
    ...(apiKeys.length > 0 ? adapters.map((create) => create(adapterOptions)) : []),
    ...(apiKeys.length > 0 && media ? [media] : []),
  ])
  const takenMembers = new Set([...(upstream?.takenMembers ?? []), ...allowedMembers])
  return provider && { ...provider, takenMembers }
}

function createWireProvider(
  upstream: OpenAiCompatibleUpstream,
  settings: ProviderSettings,
  options: RegistryOptions,
): ClosableProvider | null {
  const baseUrl = settings.baseUrl ?? upstream.defaultBaseUrl
  if (baseUrl === null) return null
  return createOpenAiCompatibleProvider({
    upstream: settings.wires === undefined ? upstream : { ...upstream, wires: settings.wires },
    baseUrl,
    credentials: settings.apiKeys.length > 0 ? createCredentialRing(settings.apiKeys, options) : null,
    connectTimeoutMs: options.connectTimeoutMs,
  })
}

/** One that asks for a key may be a vendor's; one without is taken for the operator's own. */
function customUpstream(id: string, hasKey: boolean): OpenAiCompatibleUpstream {
  return {
    id,
    environmentPrefix: id.toUpperCase(),
    defaultBaseUrl: null,
    hasLegacyCompletion: true,
    operations: EVERY_OPERATION,
    whenLeft: hasKey ? 'goes on' : 'stops',
  }
}

type ClosableProvider = Provider & { close?(): Promise<void> }

/** One upstream whose operations are adapters of several kinds. Where two offer the same, the earlier counts. */
function combineProviders(parts: readonly ClosableProvider[]): ClosableProvider | null {
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
