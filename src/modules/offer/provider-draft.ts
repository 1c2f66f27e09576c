import type { KeyLimits } from '../../providers/connection/key-limits.ts'
import type { NativeWire } from '../../providers/native-wire.ts'

/** A secret, or where to read it. */
type SecretSource = { readonly secret: string } | { readonly reference: string }

export interface NewCredential {
  readonly source: SecretSource
  readonly weight: number
  readonly limits: KeyLimits
}

/** A credential that stays, or a new one. */
export type DraftCredential =
  | NewCredential
  /** `weight` null: it stays; limits that are absent stay. */
  | { readonly id: string; readonly weight: number | null; readonly limits: Partial<KeyLimits> }

export interface TimeLimits {
  readonly connectMs?: number | null
  readonly firstByteMs?: number | null
  readonly idleMs?: number | null
}

/** A proxy as an operator describes it. What is absent stays. */
export interface ProxyPatch {
  readonly url?: string | undefined
  readonly username?: string | null | undefined
  readonly password?: SecretSource | null | undefined
}

/** A provider as an operator describes it. */
export interface ProviderDraft {
  readonly name: string
  /** Null for a server of the operator's own. Without it, the vendor of this name, if there is one. */
  readonly vendor?: string | null | undefined
  readonly baseUrl?: string | null | undefined
  readonly wires?: readonly NativeWire[] | null | undefined
  readonly allowedMembers?: readonly string[] | undefined
  /** By name. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly timeouts?: TimeLimits | undefined
  /** Null: hosts are reached directly. */
  readonly proxy?: ProxyPatch | null | undefined
  /** Certificates in PEM, or `file:/path`. */
  readonly certificateAuthority?: string | null | undefined
  readonly regions?: readonly string[] | undefined
  readonly retentionDays?: number | null | undefined
  readonly isEnabled?: boolean | undefined
  readonly credentials: readonly NewCredential[]
}

/** What is to change. What is absent stays. */
export interface ProviderPatch extends Omit<
  Partial<ProviderDraft>,
  'name' | 'vendor' | 'credentials' | 'headers'
> {
  /** All that remain or are new. Those that are not mentioned end. */
  readonly credentials?: readonly DraftCredential[] | undefined
  /** By name; null removes one. Those that are not mentioned stay. */
  readonly headers?: Readonly<Record<string, string | null>> | undefined
}
