import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'

export const ACCOUNT_RULES = ['fixed', 'domain', 'group', 'invited', 'own'] as const
type AccountRule = (typeof ACCOUNT_RULES)[number]

/** An account that a provider speaks for. */
interface ProviderAccount {
  readonly accountId: string
  /** A domain or a group, by the rule of the provider. Empty: everybody. */
  readonly match: string
}

/** What an operator decides about a provider. */
export interface ProviderSettings {
  readonly name: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Null: groups are not followed. */
  readonly groupsClaim: string | null
  /** In lower case. Empty: any. */
  readonly allowedDomains: readonly string[]
  readonly needsVerifiedEmail: boolean
  readonly accountRule: AccountRule
  readonly accounts: readonly ProviderAccount[]
  readonly makesMembers: boolean
  readonly memberRole: string
  readonly linksMembers: boolean
  readonly operatorGroups: readonly string[]
  readonly operatorReaderGroups: readonly string[]
  readonly isEnabled: boolean
}

/** A company's sign-in: an issuer of OpenID Connect and what its people get here. */
export interface IdentityProvider extends ProviderSettings {
  readonly id: string
  /** The account of the operator who added it. Only as members of it people become operators by their groups. */
  readonly accountId: string
  readonly issuer: string
  readonly hasClientSecret: boolean
  readonly environment: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly lastSignInAtMs: number | null
  readonly lastFailure: { readonly atMs: number; readonly message: string } | null
  /** When the provider last left out the groups of somebody who is in too many. */
  readonly groupsMissingAtMs: number | null
}

/** A provider with its sealed secret. */
export interface SealedProvider extends IdentityProvider {
  readonly sealedSecret: Buffer | null
}

interface ProviderRow {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: Buffer | null
  readonly scopes: string[]
  readonly groups_claim: string | null
  readonly allowed_domains: string[]
  readonly needs_verified_email: boolean
  readonly account_rule: AccountRule
  readonly accounts: { account_id: string; match: string }[] | null
  readonly makes_members: boolean
  readonly member_role: string
  readonly links_members: boolean
  readonly operator_groups: string[]
  readonly operator_reader_groups: string[]
  readonly environment: string
  readonly is_enabled: boolean
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_sign_in_at: Date | null
  readonly last_failure_at: Date | null
  readonly last_failure: string | null
  readonly groups_missing_at: Date | null
}

const SELECT_PROVIDER = `
  SELECT p.*, (SELECT json_agg(json_build_object('account_id', a.account_id, 'match', a.match) ORDER BY a.position)
    FROM identity_provider_accounts a WHERE a.provider_id = p.id) AS accounts
  FROM identity_providers p`

/** Returns null for an unknown id. */
export async function findProvider(queryable: Queryable, providerId: string): Promise<SealedProvider | null> {
  if (!isUuid(providerId)) return null
  const [row] = await queryable.query<ProviderRow>(`${SELECT_PROVIDER} WHERE p.id = $1`, [providerId])
  return row === undefined ? null : providerFromRow(row)
}

/** Returns all of them, in the order in which they were added. */
export async function listProviders(queryable: Queryable): Promise<SealedProvider[]> {
  const rows = await queryable.query<ProviderRow>(`${SELECT_PROVIDER} ORDER BY p.id`)
  return rows.map(providerFromRow)
}

function providerFromRow(row: ProviderRow): SealedProvider {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    issuer: row.issuer,
    clientId: row.client_id,
    hasClientSecret: row.client_secret !== null,
    sealedSecret: row.client_secret,
    scopes: row.scopes,
    groupsClaim: row.groups_claim,
    allowedDomains: row.allowed_domains,
    needsVerifiedEmail: row.needs_verified_email,
    accountRule: row.account_rule,
    accounts: (row.accounts ?? []).map(({ account_id: accountId, match }) => ({ accountId, match })),
    makesMembers: row.makes_members,
    memberRole: row.member_role,
    linksMembers: row.links_members,
    operatorGroups: row.operator_groups,
    operatorReaderGroups: row.operator_reader_groups,
    environment: row.environment,
    isEnabled: row.is_enabled,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
    lastSignInAtMs: row.last_sign_in_at?.getTime() ?? null,
    lastFailure:
      row.last_failure_at === null
        ? null
        : { atMs: row.last_failure_at.getTime(), message: row.last_failure ?? '' },
    groupsMissingAtMs: row.groups_missing_at?.getTime() ?? null,
  }
}
