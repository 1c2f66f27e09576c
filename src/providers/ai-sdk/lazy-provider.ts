import type { Clock } from '../../kernel/clock.ts'
import type { KeyOptions } from '../connection/credential-ring.ts'
import type { KeyAllowance } from '../connection/key-limits.ts'
import type { NetworkPath } from '../connection/network-path.ts'
import type { InferenceOperation, Provider, OnDisconnect } from '../provider.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { ExchangeLimits } from './exchange/upstream-exchange.ts'

export interface AiSdkProviderOptions {
  readonly apiKeys: readonly string[]
  /** The weight of each key, in the order of the keys. */
  readonly keyWeights?: readonly number[]
  /** What each key may still take, in the order of the keys. Null for one without limits. */
  readonly keyAllowances?: readonly (KeyAllowance | null)[]
  /** Sent with every request to the host of its address, as alternating names and values. */
  readonly headers?: readonly string[]
  readonly baseUrl?: string
  readonly path?: NetworkPath | undefined
  /** The name of the provider, how its credentials sign requests, and its limit for connections: for vendors with a `signIn`. */
  readonly id?: string
  readonly signIn?: SignIn
  readonly connectTimeoutMs?: number
  readonly clock?: Clock
  readonly limits?: Partial<ExchangeLimits>
}

export function ringOptionsOf({
  keyWeights,
  keyAllowances,
}: Pick<AiSdkProviderOptions, 'keyWeights' | 'keyAllowances'>): KeyOptions {
  return { weights: keyWeights, allowances: keyAllowances }
}

/**
 * Creates a provider whose code is loaded by its first call, because loading the translation and the vendor's package slows down
 * startup.
 */
export function createLazyProvider(
  id: string,
  { apiKeys }: AiSdkProviderOptions,
  load: () => Promise<InferenceOperation>,
  onDisconnect: OnDisconnect,
): Provider {
  let loaded: Promise<InferenceOperation> | undefined
  return {
    id,
    isConfigured: apiKeys.length > 0,
    onDisconnect,
    async chat(call) {
      loaded ??= load()
      const chat = await loaded
      return chat(call)
    },
  }
}
