import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller, Keys } from '../keys/keys.ts'
import { checkIssuer } from './check-issuer.ts'
import { exchangeToken, type ExchangedToken, type ExchangeOrder, type ExchangeOutcome } from './exchange.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import {
  ISSUER_COLUMNS,
  issuerFromRow,
  type IssuerDraft,
  type IssuerRow,
  type TrustedIssuer,
} from './trusted-issuer.ts'

export { sweepExchangedTokens } from './exchange.ts'
export {
  ENVIRONMENT_DEFAULT,
  TRUST_ALGORITHMS,
  type IssuerDraft,
  type TrustedIssuer,
} from './trusted-issuer.ts'

const ISSUERS_MAX = 20

interface TrustPlace {
  readonly caller: Caller
  readonly projectId: string
}

/** The issuers that a project trusts. All functions throw `not_found` for what is of another project. */
export interface Trust {
  /** The oldest first. */
  list(accountId: string, projectId: string): Promise<readonly TrustedIssuer[]>
  /** Throws unless the caller could make keys of the service accounts that the rules name. */
  create(place: TrustPlace, draft: IssuerDraft): Promise<TrustedIssuer>
  change(place: TrustPlace, issuerId: string, changes: Partial<IssuerDraft>): Promise<TrustedIssuer>
  delete(place: TrustPlace, issuerId: string): Promise<void>
  exchange(order: ExchangeOrder): Promise<ExchangedToken>
}

interface TrustOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<Keys, 'ensureTokenKey' | 'issueAccessToken' | 'requireMayGive'>
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly count: (outcome: ExchangeOutcome) => void
}

export function createTrust({ database, clock, keys, outbound, count }: TrustOptions): Trust {
  const nowMs = (): number => clock.nowMs()
  const issuerKeys = createIssuerKeys({ outbound, nowMs })
  return {
    list: async (accountId, projectId) => {
      await requireProject(database, accountId, projectId)
      const rows = await database.query<IssuerRow>(
        `SELECT ${ISSUER_COLUMNS} FROM trusted_issuers WHERE account_id = $1 AND project_id = $2 ORDER BY id LIMIT $3`,
        [accountId, projectId, ISSUERS_MAX],
      )
      return rows.map(issuerFromRow)
    },
    create: async (place, draft) => {
      checkIssuer(draft)
      const { caller, projectId } = place
      return database.transaction(async (transaction) => {
        await requireProject(transaction, caller.accountId, projectId, { toChange: true })
        await requireOwners(transaction, keys, place, draft)
        const [row] = await transaction.query<IssuerRow>(
          `INSERT INTO trusted_issuers (id, account_id, project_id, name, issuer, audience, algorithms, jwks, rules, created_at)
           SELECT $1, $2::uuid, $3::uuid, $4, $5, $6, $7::text[], $8::jsonb, $9::jsonb, $10
           WHERE (SELECT count(*) FROM trusted_issuers WHERE project_id = $3) < $11 RETURNING ${ISSUER_COLUMNS}`,
          [
            createId(nowMs()),
            caller.accountId,
            projectId,
            ...valuesOf(draft),
            new Date(nowMs()),
            ISSUERS_MAX,
          ],
        )
        if (row === undefined)
          throw new AppError('conflict', `A project trusts at most ${ISSUERS_MAX} issuers.`)
        const created = issuerFromRow(row)
        await record(transaction, place, 'trusted_issuer.created', created.id, { data: tellDraft(created) })
        return created
      })
    },
    change: async (place, issuerId, changes) => {
      const { caller, projectId } = place
      return database.transaction(async (transaction) => {
        await requireProject(transaction, caller.accountId, projectId, { toChange: true })
        const before = await readIssuer(transaction, place, issuerId)
        const draft = { ...before, ...changes }
        checkIssuer(draft)
        await requireOwners(transaction, keys, place, draft)
        const [row] = await transaction.query<IssuerRow>(
          `UPDATE trusted_issuers SET name = $2, issuer = $3, audience = $4, algorithms = $5::text[], jwks = $6::jsonb, rules = $7::jsonb
           WHERE id = $1 RETURNING ${ISSUER_COLUMNS}`,
          [before.id, ...valuesOf(draft)],
        )
        if (row === undefined) throw notFound('trusted issuer')
        const after = issuerFromRow(row)
        await record(transaction, place, 'trusted_issuer.updated', after.id, {
          changes_requested: tellDraft(after),
        })
        return after
      })
    },
    delete: async (place, issuerId) => {
      const { caller, projectId } = place
      await database.transaction(async (transaction) => {
        await requireProject(transaction, caller.accountId, projectId)
        const { id } = await readIssuer(transaction, place, issuerId)
        await transaction.query('DELETE FROM trusted_issuers WHERE id = $1', [id])
        await record(transaction, place, 'trusted_issuer.deleted', id)
      })
    },
    exchange: (order) => exchangeToken(order, { database, keys, issuerKeys, nowMs, count }),
  }
}

function valuesOf({ name, issuer, audience, algorithms, jwks, rules }: IssuerDraft): unknown[] {
  return [
    name,
    issuer,
    audience,
    algorithms,
    jwks === null ? null : JSON.stringify(jwks),
    JSON.stringify(rules),
  ]
}

function tellDraft({ name, issuer, audience, algorithms, jwks, rules }: IssuerDraft): object {
  return {
    name,
    issuer,
    audience,
    algorithms,
    has_jwks: jwks !== null,
    rules: rules.map(({ claims, serviceAccountId, lifetimeSeconds, environment, isOnce }) => ({
      claims,
      service_account_id: wireId('serviceAccount', serviceAccountId),
      lifetime_seconds: lifetimeSeconds,
      env: environment,
      once: isOnce,
    })),
  }
}

/** The lock keeps the number of issuers, and the project from being archived meanwhile. */
async function requireProject(
  queryable: Queryable,
  accountId: string,
  projectId: string,
  { toChange = false } = {},
): Promise<void> {
  const [project] = await queryable.query<{ archived_at: Date | null }>(
    `SELECT archived_at FROM projects WHERE id = $1 AND account_id = $2 ${toChange ? 'FOR NO KEY UPDATE' : ''}`,
    [projectId, accountId],
  )
  if (project === undefined) throw notFound('project')
  if (toChange && project.archived_at !== null) throw new AppError('conflict', 'The project is archived.')
}

async function readIssuer(
  queryable: Queryable,
  { caller, projectId }: TrustPlace,
  issuerId: string,
): Promise<TrustedIssuer> {
  const [row] = isUuid(issuerId)
    ? await queryable.query<IssuerRow>(
        `SELECT ${ISSUER_COLUMNS} FROM trusted_issuers WHERE id = $1 AND account_id = $2 AND project_id = $3 FOR UPDATE`,
        [issuerId, caller.accountId, projectId],
      )
    : []
  if (row === undefined) throw notFound('trusted issuer')
  return issuerFromRow(row)
}

/** Whoever writes a rule gives what the service account has, as with a key of it. */
async function requireOwners(
  transaction: Queryable,
  keys: TrustOptions['keys'],
  { caller, projectId }: TrustPlace,
  { rules }: IssuerDraft,
): Promise<void> {
  const ids = [...new Set(rules.map(({ serviceAccountId }) => serviceAccountId))]
  const rows = await transaction.query<{ role: string }>(
    `SELECT role FROM service_accounts WHERE id = ANY ($1::uuid[]) AND project_id = $2 AND deleted_at IS NULL`,
    [ids, projectId],
  )
  if (rows.length < ids.length) throw notFound('service account')
  await keys.requireMayGive(transaction, caller, {
    projectId,
    roles: rows.map(({ role }) => `project:${role}`),
  })
}

function record(
  transaction: Queryable,
  { caller: actor, projectId }: TrustPlace,
  type: AccountChange['type'],
  id: string,
  details: AccountChange['details'] = {},
): Promise<void> {
  return recordChange(transaction, {
    actor,
    type,
    projectId,
    resourceId: wireId('trustedIssuer', id),
    details,
  })
}
