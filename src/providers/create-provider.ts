import type { Clock } from '../kernel/clock.ts'
import type { AiSdkProviderOptions } from './ai-sdk/lazy-provider.ts'
import { createLazyMediaProvider } from './ai-sdk/media/lazy-media-provider.ts'
import { createCredentialRing } from './credential-ring.ts'
import { createOpenAiCompatibleProvider } from './openai-compatible/openai-compatible.ts'
import { EVERY_OPERATION, type OpenAiCompatibleUpstream } from './openai-compatible/upstream.ts'
import type { NativeWire } from './native-wire.ts'
import type { Provider } from './provider.ts'
import type { VendorDescriptor } from './vendor-descriptor.ts'
import { vendorOf } from './vendors.ts'

/** What the operator says of one upstream. */
export interface ProviderSettings {
  readonly apiKeys: readonly string[]
  readonly baseUrl: string | null
  /** Members of requests that the operator lets through although they change the bill. */
  readonly allowedMembers?: readonly string[]
  /** The wires it speaks besides chat, where the operator says so. */
  readonly wires?: readonly NativeWire[]
}

export type ClosableProvider = Provider & { close?(): Promise<void> }

interface CreateOptions {
  readonly clock: Clock
  readonly connectTimeoutMs: number
}

/** What the descriptor of the vendor and the operator's settings make together. Null where neither a key nor an address is given. */
export function createProvider(
  id: string,
  settings: ProviderSettings,
  options: CreateOptions,
): ClosableProvider | null {
  const { apiKeys, baseUrl, allowedMembers = [] } = settings
  if (apiKeys.length === 0 && baseUrl === null) return null
  const vendor = vendorOf(id)
  const upstream = vendor === undefined ? customUpstream(id, apiKeys.length > 0) : wireOf(vendor)
  const { adapters = [] } = vendor ?? {}
  const adapterOptions = { apiKeys, clock: options.clock, ...(baseUrl === null ? {} : { baseUrl }) }
  // A vendor with an adapter has a key, whatever its address.
  const hasWire = upstream !== null && (adapters.length === 0 || apiKeys.length > 0)
  const wire = hasWire ? createWireProvider(upstream, settings, options) : null
  const media = apiKeys.length > 0 ? createMediaProvider(id, adapterOptions) : null
  const provider = combineProviders([
    ...(wire ? [wire] : []),
    ...(apiKeys.length > 0 ? adapters.map((create) => create(adapterOptions)) : []),
    ...(media ? [media] : []),
  ])
  const takenMembers = new Set([...(upstream?.takenMembers ?? []), ...allowedMembers])
  return provider && { ...provider, takenMembers }
}

/** How a vendor speaks OpenAI's wire; null where it does not. */
export function wireOf({ id, wire }: VendorDescriptor): OpenAiCompatibleUpstream | null {
  return wire === undefined ? null : { id, ...wire }
}

/** The images and videos of a vendor, whatever else it does; null for one that makes none. */
export function createMediaProvider(id: string, options: AiSdkProviderOptions): Provider | null {
  const { media, refundsCancelled } = vendorOf(id) ?? {}
  if (media === undefined) return null
  const provider = createLazyMediaProvider(id, options, media)
  return refundsCancelled === undefined ? provider : { ...provider, refundsCancelled }
}

function createWireProvider(
  upstream: OpenAiCompatibleUpstream,
  settings: ProviderSettings,
  options: CreateOptions,
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
    defaultBaseUrl: null,
    hasLegacyCompletion: true,
    operations: EVERY_OPERATION,
    whenLeft: hasKey ? 'goes on' : 'stops',
  }
}

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
