import type { Clock } from '../kernel/clock.ts'
import type { AiSdkProviderOptions } from './ai-sdk/lazy-provider.ts'
import { createLazyMediaProvider } from './ai-sdk/media/lazy-media-provider.ts'
import { createBatchApi } from './batch/create-batch-api.ts'
import { createCredentialRing } from './connection/credential-ring.ts'
import type { AllowanceOf, LimitedKey } from './connection/key-limits.ts'
import type { NetworkPath } from './connection/network-path.ts'
import { createOpenAiCompatibleProvider } from './openai-compatible/openai-compatible.ts'
import { EVERY_OPERATION, type OpenAiCompatibleUpstream } from './openai-compatible/upstream.ts'
import type { NativeWire } from './native-wire.ts'
import type { Provider, UpstreamTimeouts } from './provider.ts'
import type { VendorDescriptor } from './vendor-descriptor.ts'
import type { SignIn } from './sign-in/sign-in.ts'
import { needsAddress, vendorOf } from './vendors.ts'

/** The operator's settings for one upstream. */
export interface ProviderSettings {
  /** The vendor, if the provider has a name of its own. */
  readonly vendor?: string
  readonly apiKeys: readonly string[]
  /** The weight of each key, in the order of the keys. All are equal without it. */
  readonly keyWeights?: readonly number[]
  /** The limits of each key, in the order of the keys. Null for one without. */
  readonly keyLimits?: readonly (LimitedKey | null)[]
  /** Sent with every request, as alternating names and values. */
  readonly headers?: readonly string[]
  readonly timeouts?: Partial<UpstreamTimeouts>
  /** How its hosts are reached, if not directly. */
  readonly path?: NetworkPath
  readonly baseUrl: string | null
  /** Request members that the operator allows although they change the bill, or that only the engine of a server knows. */
  readonly allowedMembers?: readonly string[]
  /** The wires besides chat that the upstream speaks, if the operator configured them. */
  readonly wires?: readonly NativeWire[]
}

export type ClosableProvider = Provider & { close?(): Promise<void> }

interface CreateOptions {
  readonly clock: Clock
  readonly connectTimeoutMs: number
  /** Counts the keys with limits. Without it they have none. */
  readonly allowanceOf?: AllowanceOf | undefined
}

/**
 * Creates a provider from the vendor's descriptor and the operator's settings. Null if neither a key nor an address is
 * configured.
 */
export function createProvider(
  id: string,
  settings: ProviderSettings,
  options: CreateOptions,
): ClosableProvider | null {
  const { apiKeys, keyWeights, baseUrl, headers = [], timeouts, path, allowedMembers = [] } = settings
  const keyAllowances = allowancesOf(settings, options)
  if (apiKeys.length === 0 && baseUrl === null) return null
  const vendor = vendorOf(settings.vendor ?? id)
  if (vendor !== undefined && baseUrl === null && needsAddress(vendor)) return null
  const signIn = vendor?.signIn?.create({ provider: id, clock: options.clock, path })
  const upstream = vendor === undefined ? customUpstream(id, hasCredential(settings)) : wireOf(vendor, id)
  const { adapters = [] } = vendor ?? {}
  const adapterOptions = {
    apiKeys,
    ...(keyWeights === undefined ? {} : { keyWeights }),
    ...(keyAllowances === undefined ? {} : { keyAllowances }),
    clock: options.clock,
    headers,
    path,
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(signIn === undefined
      ? {}
      : { id, signIn, connectTimeoutMs: timeouts?.connectMs ?? options.connectTimeoutMs }),
  }
  // A vendor with adapters always needs a key, even if an address is configured.
  const hasWire = upstream !== null && (adapters.length === 0 || apiKeys.length > 0)
  const wire = hasWire ? createWireProvider(upstream, settings, { ...options, signIn, keyAllowances }) : null
  const media =
    apiKeys.length > 0 && vendor !== undefined ? createMediaProvider(vendor.id, adapterOptions) : null
  const provider = combineProviders([
    ...(wire ? [wire] : []),
    ...(apiKeys.length > 0 ? adapters.map((create) => create(adapterOptions)) : []),
    ...(media ? [media] : []),
  ])
  const takenMembers = new Set([...(upstream?.takenMembers ?? []), ...allowedMembers])
  const batches = createBatchApi(id, vendor?.batches, { apiKeys, headers, path, baseUrl })
  const address = baseUrl ?? upstream?.defaultBaseUrl ?? null
  return (
    provider && {
      ...provider,
      id,
      takenMembers,
      ...(batches === null
        ? {}
        : {
            batch: batches.api,
            close: async () => {
              await Promise.all([provider.close?.(), batches.close()])
            },
          }),
      ...(timeouts === undefined ? {} : { timeouts }),
      ...(address !== null && URL.canParse(address) ? { address: new URL(address).host } : {}),
    }
  )
}

/** Undefined if no key has a limit. */
function allowancesOf({ keyLimits }: ProviderSettings, { allowanceOf }: CreateOptions) {
  if (allowanceOf === undefined) return undefined
  return keyLimits?.map((limited) => (limited === null ? null : allowanceOf(limited)))
}

/** Returns how the vendor speaks OpenAI's wire, or null if it does not. The provider may have a name of its own. */
export function wireOf({ id, wire }: VendorDescriptor, name = id): OpenAiCompatibleUpstream | null {
  return wire === undefined ? null : { id: name, ...wire }
}

/** The header of a credential that stands for the keys. */
const AUTHORIZATION = 'authorization'

function hasCredential({ apiKeys, headers = [] }: ProviderSettings): boolean {
  return apiKeys.length > 0 || headers.includes(AUTHORIZATION)
}

/** Creates the provider for the images and videos of a vendor. Null if the vendor has none. */
export function createMediaProvider(id: string, options: AiSdkProviderOptions): Provider | null {
  const { media, refundsCancelled } = vendorOf(id) ?? {}
  if (media === undefined) return null
  const provider = createLazyMediaProvider(id, options, media)
  return refundsCancelled === undefined ? provider : { ...provider, refundsCancelled }
}

function createWireProvider(
  upstream: OpenAiCompatibleUpstream,
  settings: ProviderSettings,
  options: CreateOptions & {
    readonly signIn: SignIn | undefined
    readonly keyAllowances: ReturnType<typeof allowancesOf>
  },
): ClosableProvider | null {
  const baseUrl = settings.baseUrl ?? upstream.defaultBaseUrl
  if (baseUrl === null) return null
  const { wires, allowedMembers } = settings
  return createOpenAiCompatibleProvider({
    upstream: {
      ...upstream,
      ...(wires === undefined ? {} : { wires }),
      ...(allowedMembers === undefined ? {} : { allowedMembers }),
    },
    baseUrl,
    credentials:
      settings.apiKeys.length > 0
        ? createCredentialRing(settings.apiKeys, {
            provider: upstream.id,
            clock: options.clock,
            weights: settings.keyWeights,
            allowances: options.keyAllowances,
          })
        : null,
    headers: settings.headers ?? [],
    path: settings.path,
    connectTimeoutMs: settings.timeouts?.connectMs ?? options.connectTimeoutMs,
    signIn: options.signIn,
  })
}

/** A custom upstream with a key may be a vendor's. One without a key is assumed to be self-hosted. */
function customUpstream(id: string, hasKey: boolean): OpenAiCompatibleUpstream {
  return {
    id,
    defaultBaseUrl: null,
    hasLegacyCompletion: true,
    operations: EVERY_OPERATION,
    onDisconnect: hasKey ? 'continues' : 'stops',
  }
}

/** Combines adapters of several kinds into one provider. If two offer the same operation, the earlier one is used. */
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
