import type { JSONWebKeySet } from 'jose'
import type { Environment } from '../keys/keys.ts'

/** Signatures that anybody can check and only the issuer can make. There is no other kind here: neither `none` nor shared secrets. */
export const TRUST_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const
type TrustAlgorithm = (typeof TRUST_ALGORITHMS)[number]

/** That of access tokens whose rule names none. */
export const ENVIRONMENT_DEFAULT: Environment = 'prod'

/** Which tokens of an issuer become which service account. */
export interface TrustRule {
  /** Each has to be there with this value, or one that fits the pattern. */
  readonly claims: Readonly<Record<string, string>>
  readonly serviceAccountId: string
  readonly lifetimeSeconds: number
  /** Of the access token, as of a key. */
  readonly environment: Environment
  /** A token with the same `jti` is taken only once. */
  readonly isOnce: boolean
}

export interface IssuerDraft {
  readonly name: string
  /** Exactly as in `iss`. */
  readonly issuer: string
  /** What `aud` has to contain. */
  readonly audience: string
  readonly algorithms: readonly TrustAlgorithm[]
  /** For an issuer that cannot be reached from here. Null: its keys are read from where it says. */
  readonly jwks: JSONWebKeySet | null
  /** The first that fits decides. */
  readonly rules: readonly TrustRule[]
}

export interface TrustedIssuer extends IssuerDraft {
  readonly id: string
  readonly accountId: string
  readonly projectId: string
  readonly createdAtMs: number
}

export interface IssuerRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly algorithms: TrustAlgorithm[]
  readonly jwks: JSONWebKeySet | null
  /** Those of earlier builds have no environment. */
  readonly rules: (Omit<TrustRule, 'environment'> & Partial<Pick<TrustRule, 'environment'>>)[]
  readonly created_at: Date
}

export const ISSUER_COLUMNS =
  'id, account_id, project_id, name, issuer, audience, algorithms, jwks, rules, created_at'

export function issuerFromRow(row: IssuerRow): TrustedIssuer {
  return {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    name: row.name,
    issuer: row.issuer,
    audience: row.audience,
    algorithms: row.algorithms,
    jwks: row.jwks,
    rules: row.rules.map((rule) => ({ ...rule, environment: rule.environment ?? ENVIRONMENT_DEFAULT })),
    createdAtMs: row.created_at.getTime(),
  }
}
