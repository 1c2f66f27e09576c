import type { AiSdkProviderOptions } from '../ai-sdk/lazy-provider.ts'
import type { SignIn } from '../sign-in/sign-in.ts'

/** What a provider of a cloud is created from. */
export interface CloudOptions extends AiSdkProviderOptions {
  /** The provider's name. */
  readonly id: string
  readonly baseUrl: string
  readonly signIn: SignIn
  readonly connectTimeoutMs: number
}

/** Throws if a vendor whose adapters need them was created without. */
export function requireCloudOptions(options: AiSdkProviderOptions): CloudOptions {
  const { id, baseUrl, signIn, connectTimeoutMs } = options
  if (id === undefined || baseUrl === undefined || signIn === undefined || connectTimeoutMs === undefined)
    throw new TypeError('a cloud needs an address and a way to sign in')
  return { ...options, id, baseUrl: baseUrl.replace(/\/+$/, ''), signIn, connectTimeoutMs }
}
