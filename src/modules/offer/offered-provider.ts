import type { KeyLimits } from '../../providers/connection/key-limits.ts'
import type { NativeWire } from '../../providers/native-wire.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import type { SealedColumn } from '../../storage/sealed-columns.ts'

/** A provider as operators configured it while the gateway runs. Without secrets. */
export interface OfferedProvider {
  readonly name: string
  /** Null for a server of the operator's own. */
  readonly vendor: string | null
  readonly baseUrl: string | null
  /** The wires that it speaks besides chat. Null: those of its vendor. */
  readonly wires: readonly NativeWire[] | null
  readonly allowedMembers: readonly string[]
  readonly headerNames: readonly string[]
  readonly timeouts: Partial<UpstreamTimeouts>
  readonly proxy: OfferedProxy | null
  /** Certificates in PEM, or `file:/path`. */
  readonly certificateAuthority: string | null
  /** Where the vendor promises to work, in its own names. */
  readonly regions: readonly string[]
  /** How many days the vendor promises to keep prompts and answers at most. Null: it promises nothing. */
  readonly retentionDays: number | null
  readonly isEnabled: boolean
  readonly credentials: readonly ProviderCredential[]
  /** The version of the offer in which it was last changed. */
  readonly version: bigint
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

interface OfferedProxy {
  readonly url: string
  readonly username: string | null
  readonly hasPassword: boolean
  /** Where the password is read. Null if it is stored, or if there is none. */
  readonly passwordReference: string | null
}

export interface ProviderCredential {
  readonly id: string
  readonly lastFour: string | null
  /** `env:NAME`, `file:/path` or that of a store. Null if the secret itself is stored. */
  readonly reference: string | null
  /** Its share of the requests, in relation to the others. */
  readonly weight: number
  readonly limits: KeyLimits
  readonly createdAtMs: number
}

/** A provider with what is sealed. */
export interface StoredProvider extends OfferedProvider {
  readonly sealedHeaders: { readonly sealed: Buffer; readonly wrappedKey: Buffer } | null
  readonly proxy: StoredProxy | null
  readonly credentials: readonly StoredCredential[]
}

export interface StoredProxy extends OfferedProxy {
  readonly sealedPassword: { readonly sealed: Buffer; readonly wrappedKey: Buffer } | null
}

export interface StoredCredential extends ProviderCredential {
  readonly sealed: { readonly sealed: Buffer; readonly wrappedKey: Buffer } | null
}

/** What a sealed secret is bound to, so that it cannot be used elsewhere. */
export function credentialPlace(provider: string, credentialId: string): string {
  return `provider ${provider} credential ${credentialId}`
}

export function headersPlace(provider: string): string {
  return `provider ${provider} headers`
}

export function proxyPlace(provider: string): string {
  return `provider ${provider} proxy`
}

export const SEALED_PROVIDER_SECRETS: readonly SealedColumn[] = [
  {
    table: 'provider_credentials',
    column: 'wrapped_key',
    key: { id: 'uuid' },
    boundTo: ['provider', 'id'],
    placeOf: credentialPlace,
  },
  {
    table: 'offered_providers',
    column: 'wrapped_headers_key',
    key: { name: 'text' },
    boundTo: ['name'],
    placeOf: headersPlace,
  },
  {
    table: 'offered_providers',
    column: 'wrapped_proxy_key',
    key: { name: 'text' },
    boundTo: ['name'],
    placeOf: proxyPlace,
  },
]
