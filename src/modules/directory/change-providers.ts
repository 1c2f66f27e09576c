import { AppError, invalidValue, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import { parseWebAddress } from '../../kernel/parse-web-address.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import { isPrivateHost } from '../../outbound/is-public-address.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Caller } from '../keys/keys.ts'
import {
  findProvider,
  listProviders,
  type IdentityProvider,
  type ProviderSettings,
} from './identity-provider.ts'
import { sealSecret, type ProviderClients } from './provider-client.ts'
import { testProvider, type ProviderTest } from './test-provider.ts'

export interface ProviderDraft extends ProviderSettings {
  readonly issuer: string
  /** Null for a public client. */
  readonly clientSecret: string | null
}

/** Absent members stay as they are. */
export interface ProviderChange extends Partial<ProviderSettings> {
  readonly clientSecret?: string | null
}

/** For operators. All functions throw `not_found` for an unknown provider. */
export interface IdentityProviders {
  create(operator: Caller, draft: ProviderDraft): Promise<IdentityProvider>
  read(providerId: string): Promise<IdentityProvider>
  list(): Promise<IdentityProvider[]>
  /** Sessions that began with a provider end when it is switched off. */
  change(providerId: string, change: ProviderChange): Promise<IdentityProvider>
  /** Ends its sessions, and forgets who its people are. The people stay members. */
  delete(providerId: string): Promise<void>
  /** Fetches the metadata and the keys, and says what is wrong. */
  test(providerId: string): Promise<ProviderTest>
}

const PROVIDERS_MAX = 50

export function createIdentityProviders({
  database,
  clock,
  sealer,
  clients,
}: {
  database: Database
  clock: Clock
  sealer: Sealer
  clients: ProviderClients
}): IdentityProviders {
  const read = async (providerId: string): Promise<IdentityProvider> => {
    const provider = await findProvider(database, providerId)
    if (provider === null) throw notFound('identity provider')
    return provider
  }
  return {
    create: async ({ accountId, environment }, draft) => {
      const id = createId(clock.nowMs())
      const issuer = parseIssuer(draft.issuer)
      requireConsistent(draft)
      const secret = draft.clientSecret === null ? null : sealSecret(sealer, id, draft.clientSecret)
      await database.transaction(async (transaction) => {
        await lockProviders(transaction)
        const rows = await transaction.query(
          `INSERT INTO identity_providers (id, account_id, environment, issuer, client_secret, name, client_id, scopes, groups_claim,
             allowed_domains, needs_verified_email, account_rule, makes_members, member_role, links_members, operator_groups,
             operator_reader_groups, is_enabled, created_at, updated_at)
           SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $19
           WHERE (SELECT count(*) FROM identity_providers) < $20 RETURNING id`,
          [
            id,
            accountId,
            environment,
            issuer,
            secret,
            ...columnsOf(draft),
            new Date(clock.nowMs()),
            PROVIDERS_MAX,
          ],
        )
        if (rows.length === 0)
          throw new AppError('conflict', `A gateway has at most ${PROVIDERS_MAX} identity providers.`)
        await writeAccounts(transaction, id, draft.accounts)
      })
      return read(id)
    },
    read,
    list: () => listProviders(database),
    change: async (providerId, { clientSecret, ...change }) => {
      await database.transaction(async (transaction) => {
        await lockProviders(transaction)
        const before = await findProvider(transaction, providerId)
        if (before === null) throw notFound('identity provider')
        const settings: ProviderSettings = { ...before, ...change }
        requireConsistent(settings)
        const secret =
          clientSecret === undefined
            ? before.sealedSecret
            : clientSecret === null
              ? null
              : sealSecret(sealer, before.id, clientSecret)
        await transaction.query(
          `UPDATE identity_providers SET client_secret = $2, name = $3, client_id = $4, scopes = $5, groups_claim = $6,
             allowed_domains = $7, needs_verified_email = $8, account_rule = $9, makes_members = $10, member_role = $11,
             links_members = $12, operator_groups = $13, operator_reader_groups = $14, is_enabled = $15, updated_at = $16
           WHERE id = $1`,
          [before.id, secret, ...columnsOf(settings), new Date(clock.nowMs())],
        )
        if (change.accounts !== undefined) await writeAccounts(transaction, before.id, change.accounts)
        if (!settings.isEnabled) await endSessionsOf(transaction, before.id)
      })
      clients.forget(providerId)
      return read(providerId)
    },
    delete: async (providerId) => {
      const { id } = await read(providerId)
      await database.transaction(async (transaction) => {
        await endSessionsOf(transaction, id)
        // What its groups gave ends with it: no later sign-in could take it away.
        await transaction.query(
          `DELETE FROM operators o USING identities i WHERE i.provider_id = $1 AND o.source = 'sign-in'
             AND o.account_id = i.account_id AND o.user_id = i.user_id`,
          [id],
        )
        await transaction.query('DELETE FROM identity_providers WHERE id = $1', [id])
      })
      clients.forget(id)
    },
    test: async (providerId) => testProvider(clients, await read(providerId)),
  }
}

function columnsOf(settings: ProviderSettings): unknown[] {
  return [
    settings.name,
    settings.clientId,
    settings.scopes,
    settings.groupsClaim,
    settings.allowedDomains.map((domain) => domain.toLowerCase()),
    settings.needsVerifiedEmail,
    settings.accountRule,
    settings.makesMembers,
    settings.memberRole,
    settings.linksMembers,
    settings.operatorGroups,
    settings.operatorReaderGroups,
    settings.isEnabled,
  ]
}

/** Two changes at once must not mix what one of them found consistent. */
async function lockProviders(transaction: Queryable): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('identity providers', 0))`)
}

async function writeAccounts(
  transaction: Queryable,
  providerId: string,
  accounts: ProviderSettings['accounts'],
): Promise<void> {
  const ids = [...new Set(accounts.map(({ accountId }) => accountId))]
  if (!ids.every(isUuid)) throw notFound('account')
  const found = await transaction.query('SELECT FROM accounts WHERE id = ANY ($1::uuid[])', [ids])
  if (found.length < ids.length) throw notFound('account')
  await transaction.query('DELETE FROM identity_provider_accounts WHERE provider_id = $1', [providerId])
  await transaction.query(
    `INSERT INTO identity_provider_accounts (provider_id, position, account_id, match)
     SELECT $1, o.position, o.account_id, o.match
     FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS o (account_id, match, position)`,
    [providerId, accounts.map(({ accountId }) => accountId), accounts.map(({ match }) => match)],
  )
}

async function endSessionsOf(transaction: Queryable, providerId: string): Promise<void> {
  await transaction.query('DELETE FROM sessions WHERE issuer_id = $1', [providerId])
}

const METADATA_PATH = '/.well-known/openid-configuration'

/** Returns the issuer as its tokens write it. */
function parseIssuer(text: string): string {
  const issuer = text.endsWith(METADATA_PATH) ? text.slice(0, -METADATA_PATH.length) : text
  const url = parseWebAddress(issuer)
  const param = 'issuer'
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw invalidValue(param, 'must be an http or https URL without query, fragment and password')
  if (url.protocol === 'http:' && !isPrivateHost(url.hostname))
    throw invalidValue(param, 'must be an https URL: over http, anybody on the way could sign in as anybody')
  return issuer
}

/** Refuses settings that contradict one another, or that would let anybody in whom the operator does not mean. */
function requireConsistent(settings: ProviderSettings): void {
  const { accountRule, accounts, allowedDomains } = settings
  if (!settings.scopes.includes('openid')) throw invalidValue('scopes', 'must contain `openid`')
  if (!settings.needsVerifiedEmail && allowedDomains.length === 0)
    throw invalidValue('allowed_domains', 'must name the domains if addresses need not be verified')
  const matches = accounts.map(({ match }) => match)
  const isOne = accounts.length === 1 && matches[0] === ''
  if (accountRule === 'fixed' && !isOne)
    throw invalidValue('accounts', 'must be one account, without `match`')
  if (accountRule === 'domain' || accountRule === 'group') {
    if (accounts.length === 0 || matches.includes(''))
      throw invalidValue('accounts', `must name accounts, each with the ${accountRule} that leads to it`)
    if (new Set(matches).size < matches.length)
      throw invalidValue('accounts', `must name each ${accountRule} once`)
  }
  if (accountRule === 'group' && settings.groupsClaim === null)
    throw invalidValue('groups_claim', 'must be set if groups lead to accounts')
  const makesOthers = accountRule === 'invited' || accountRule === 'own'
  if (settings.makesMembers && makesOthers)
    throw invalidValue('makes_members', `must be false if \`account_rule\` is \`${accountRule}\``)
  if (settings.linksMembers && (allowedDomains.length === 0 || accounts.length === 0))
    throw invalidValue('links_members', 'needs `allowed_domains` and `accounts` that the provider speaks for')
  const givesOperators = settings.operatorGroups.length + settings.operatorReaderGroups.length > 0
  if (givesOperators && settings.groupsClaim === null)
    throw invalidValue('groups_claim', 'must be set if groups make operators')
}
