import type { NanoUsd } from '../../kernel/money.ts'

export const SCOPES = ['inference', 'manage', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const ENVIRONMENTS = ['live', 'prod', 'staging', 'test', 'dev'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

/** Who is asking: an authenticated key and the account it belongs to. */
export interface Caller {
  readonly accountId: string
  readonly keyId: string
  readonly environment: Environment
  readonly scopes: ReadonlySet<Scope>
  /** Null allows every model. */
  readonly allowedModels: ReadonlySet<string> | null
  readonly requestsPerMinute: number | null
  /** The key's own spend cap. */
  readonly limitNanoUsd: NanoUsd | null
  /** Its account has a key of the scope `admin`. */
  readonly isOperator?: boolean
  /** Null for never. */
  readonly expiresAtMs?: number | null
  /** The restricted key that made this one: its limits hold for both together. */
  readonly parent?: ParentKey | null
}

interface ParentKey {
  readonly keyId: string
  readonly requestsPerMinute: number | null
  readonly limitNanoUsd: NanoUsd | null
}
