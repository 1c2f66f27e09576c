import type { NanoUsd } from '../../../kernel/money.ts'
import type { RequestOrigin } from '../../audit/audit.ts'
import type { Permission } from '../permissions/permissions.ts'
import type { Scope } from '../permissions/scopes.ts'
import type { TagRules } from '../tags/tag-rules.ts'
import type { ProjectPolicy } from './project-policy.ts'

export { SCOPES, type Scope } from '../permissions/scopes.ts'

export const ENVIRONMENTS = ['live', 'prod', 'staging', 'test', 'dev'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

/** The client of a request: an authenticated key and its account. */
export interface Caller {
  readonly accountId: string
  /** The only project that the key belongs to and whose rows it sees. Null for a key of the account, which sees all of it. */
  readonly projectId: string | null
  readonly keyId: string
  /** The person that the key belongs to. */
  readonly userId?: string | null
  readonly serviceAccountId?: string | null
  /** The groups of that person in the account, in a fixed order. Empty for keys of others. */
  readonly groupIds: readonly string[]
  readonly environment: Environment
  /** Those of the key that give it something. What it may do is in `permissions`. */
  readonly scopes: ReadonlySet<Scope>
  /** What the scopes of the key mean, bounded by the roles of its owner. */
  readonly permissions: ReadonlySet<Permission>
  /** Null allows every model. */
  readonly allowedModels: ReadonlySet<string> | null
  readonly requestsPerMinute: number | null
  /** The key's own spending cap. */
  readonly limitNanoUsd: NanoUsd | null
  /** What the key and its project demand of the tags of requests. Absent if nothing. */
  readonly tagRules?: TagRules
  /** What its charges are summed by: the groups of its owner, and the tags of its request. Absent if there are none. */
  readonly labels?: readonly string[]
  /** Whether the account has a key with the scope `admin`. */
  readonly isOperator?: boolean
  /** Prompts and answers are not stored, by the data retention of the account or of its project. Absent if they may be. */
  readonly isZeroRetention?: boolean
  /** What its project may use: that of the key, or `Default`. Absent if nothing is set for it. */
  readonly project?: ProjectPolicy | null
  /** Null for no expiry. */
  readonly expiresAtMs?: number | null
  /**
   * The restricted key that created this one, or the key that the session began with before it continued in another project. Its limits
   * apply to both keys together.
   */
  readonly parent?: ParentKey | null
  /** Which secret of the key the request has, which is no secret itself. Absent if it has none: a session, a token, work that goes on. */
  readonly secretMark?: string
  /** The session of a person in a browser. Absent if the request has the key itself. */
  readonly session?: CallerSession
  /** Where the request comes from, for the audit log. Absent for requests that only read, and on hot routes. */
  readonly origin?: RequestOrigin
  /** The access token that the request has instead of a key. It moves no money, gives no rights, and makes no keys. */
  readonly accessToken?: CallerToken
}

interface CallerToken {
  /** The tool that the person signed in. Null for a token that was exchanged for another one. */
  readonly grantId: string | null
}

interface CallerSession {
  readonly id: string
  /** The key that the session began with. The caller's key is another one if the session continues in another project. */
  readonly keyId: string
  /** Whether the key was entered in the last minutes. */
  readonly isConfirmed: boolean
}

interface ParentKey {
  readonly keyId: string
  readonly requestsPerMinute: number | null
  readonly limitNanoUsd: NanoUsd | null
}
