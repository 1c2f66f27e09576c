import { hash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { AppError } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { parseWireId, wireId } from '../../wires/organization-ids.ts'
import { recordChange, type RequestOrigin } from '../audit/audit.ts'
import type { Keys } from '../keys/keys.ts'
import { IssuerAway, type IssuerKeys } from './issuer-keys.ts'
import { matchesClaims } from './match-claims.ts'
import {
  ISSUER_COLUMNS,
  issuerFromRow,
  type IssuerRow,
  type TrustedIssuer,
  type TrustRule,
} from './trusted-issuer.ts'
import { verifyToken } from './verify-token.ts'

/** More than a token of any issuer needs, with all its groups. */
const TOKEN_LENGTH_MAX = 16 * 1024
const SUBJECT_TOLD_MAX = 200

export type ExchangeOutcome = 'issued' | 'refused' | 'issuer away'

export interface ExchangeOrder {
  /** `issuer_…`: whose rules count. */
  readonly audience: string
  readonly subjectToken: string
  readonly origin: RequestOrigin
}

export interface ExchangedToken {
  readonly token: string
  readonly expiresInSeconds: number
}

export interface ExchangeOptions {
  readonly database: Database
  readonly keys: Pick<Keys, 'ensureTokenKey' | 'issueAccessToken'>
  readonly issuerKeys: IssuerKeys
  readonly nowMs: () => number
  readonly count: (outcome: ExchangeOutcome) => void
}

/**
 * Exchanges a token of a trusted issuer for one of a service account. Whatever is wrong, the answer is the same: a stranger does not learn
 * which issuers and rules there are.
 */
export async function exchangeToken(order: ExchangeOrder, options: ExchangeOptions): Promise<ExchangedToken> {
  const { database, count, nowMs } = options
  const trusted = await findIssuer(database, order.audience)
  const payload = await verify(order, trusted, options)
  const rule = payload && trusted?.rules.find(({ claims }) => matchesClaims(payload, claims))
  if (!trusted || !payload || !rule) {
    count('refused')
    throw refused()
  }
  const issued = await database.transaction(async (transaction) => {
    if (!(await isUsable(transaction, trusted, rule))) return null
    if (rule.isOnce && !(await takeOnce(transaction, trusted, payload))) return null
    const keyId = await options.keys.ensureTokenKey(transaction, {
      accountId: trusted.accountId,
      userId: null,
      serviceAccountId: rule.serviceAccountId,
      projectId: trusted.projectId,
      environment: rule.environment,
    })
    const lifeMs = rule.lifetimeSeconds * 1000
    const token = await options.keys.issueAccessToken(transaction, {
      accountId: trusted.accountId,
      keyId,
      grantId: null,
      lifeMs,
    })
    await recordChange(transaction, {
      actor: { accountId: trusted.accountId, keyId: null, name: trusted.name, origin: order.origin },
      type: 'token.exchanged',
      projectId: trusted.projectId,
      resourceId: wireId('serviceAccount', rule.serviceAccountId),
      details: {
        data: {
          issuer_id: wireId('trustedIssuer', trusted.id),
          subject: payload.sub?.slice(0, SUBJECT_TOLD_MAX),
        },
      },
    })
    return token
  })
  count(issued === null ? 'refused' : 'issued')
  if (issued === null) throw refused()
  return {
    token: issued.token,
    expiresInSeconds: Math.max(1, Math.floor((issued.expiresAtMs - nowMs()) / 1000)),
  }
}

async function verify(
  { subjectToken }: ExchangeOrder,
  trusted: TrustedIssuer | null,
  { issuerKeys, nowMs, count }: ExchangeOptions,
): Promise<JWTPayload | null> {
  if (trusted === null || subjectToken.length > TOKEN_LENGTH_MAX) return null
  try {
    return await verifyToken(subjectToken, trusted, { issuerKeys, nowMs: nowMs() })
  } catch (error) {
    if (!(error instanceof IssuerAway)) throw error
    count('issuer away')
    throw new AppError(
      'service_unavailable',
      'The keys of the issuer cannot be read now. Try again in a moment.',
      {
        cause: error,
      },
    )
  }
}

function refused(): AppError {
  return new AppError(
    'invalid_grant',
    'The token is not one that is trusted here, or no rule fits its claims. Whoever manages the project sees the rules.',
  )
}

async function findIssuer(queryable: Queryable, audience: string): Promise<TrustedIssuer | null> {
  const id = parseWireId('trustedIssuer', audience)
  const [row] =
    id !== null && isUuid(id)
      ? await queryable.query<IssuerRow>(`SELECT ${ISSUER_COLUMNS} FROM trusted_issuers WHERE id = $1`, [id])
      : []
  return row === undefined ? null : issuerFromRow(row)
}

/** The rows stay as they are until the token exists, so that a deletion at the same moment ends it too. */
async function isUsable(transaction: Queryable, trusted: TrustedIssuer, rule: TrustRule): Promise<boolean> {
  const rows = await transaction.query(
    `SELECT FROM trusted_issuers i
     JOIN service_accounts s ON s.id = $2 AND s.project_id = i.project_id AND s.deleted_at IS NULL
     JOIN projects p ON p.id = i.project_id AND p.archived_at IS NULL
     JOIN accounts a ON a.id = i.account_id AND a.status = 'active'
     WHERE i.id = $1 FOR SHARE OF i, s, p`,
    [trusted.id, rule.serviceAccountId],
  )
  return rows.length > 0
}

/** Returns false for a token that was exchanged before, or that has no id to tell. */
async function takeOnce(
  transaction: Queryable,
  { id }: TrustedIssuer,
  payload: JWTPayload,
): Promise<boolean> {
  const { jti, exp } = payload
  if (typeof jti !== 'string' || jti === '' || typeof exp !== 'number') return false
  const rows = await transaction.query(
    `INSERT INTO exchanged_tokens (issuer_id, token_hash, expires_at) VALUES ($1, $2, to_timestamp($3) + interval '5 minutes')
     ON CONFLICT DO NOTHING RETURNING issuer_id`,
    [id, hash('sha256', jti, 'buffer'), exp],
  )
  return rows.length > 0
}

/** Deletes what tells that a token was exchanged, once the token has expired. */
export async function sweepExchangedTokens(queryable: Queryable): Promise<void> {
  await queryable.query('DELETE FROM exchanged_tokens WHERE expires_at <= now()')
}
