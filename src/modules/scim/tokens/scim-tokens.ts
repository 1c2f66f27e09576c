import { AppError, invalidValue, notFound } from '../../../kernel/app-error.ts'
import { createId, isUuid } from '../../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../../kernel/page.ts'
import type { Queryable } from '../../../storage/database.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { recordChange, type AccountChange, type RequestOrigin } from '../../audit/audit.ts'
import type { Caller } from '../../keys/keys.ts'
import type { ScimOptions } from '../scim-options.ts'
import { createTokenText, hashToken, shownPrefix } from './token-text.ts'

/** The credential of a directory. It writes the people and groups of one account, and reaches nothing else. */
export interface ScimToken {
  readonly id: string
  readonly name: string
  /** The beginning of the token, to recognise it by. */
  readonly prefix: string
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly lastUsedAtMs: number | null
}

/** A directory that was admitted by its token. */
export interface Directory {
  readonly accountId: string
  /** Of the token. */
  readonly id: string
  readonly name: string
  /** Where the request comes from, for the audit log. */
  readonly origin?: RequestOrigin
}

export interface ScimTokens {
  /** Also returns the token itself, which is shown this once. */
  create(
    caller: Caller,
    request: { name: string; expiresAtMs: number | null },
  ): Promise<{ token: ScimToken; text: string }>
  list(accountId: string, page: PageRequest): Promise<OpenPage<ScimToken>>
  read(accountId: string, tokenId: string): Promise<ScimToken>
  /** The token is refused from now on, by every process. */
  delete(caller: Caller, tokenId: string): Promise<void>
  /** Throws `invalid_api_key` for a token that is unknown or expired, and for one of a suspended account. */
  authenticate(text: string): Promise<Directory>
}

const TOKENS_MAX = 20
/** Whoever makes a token decides who is in which group, and so gives every role that groups have and will have. */
const GIVEN = ['account:owner']
/** Uses within a minute are not written, so that a synchronisation does not write as often as it reads. */
const NOTE_USE_AFTER = `interval '1 minute'`

interface TokenRow {
  readonly id: string
  readonly name: string
  readonly token_prefix: string
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
}

const COLUMNS = 'id, name, token_prefix, created_at, expires_at, last_used_at'

export function createScimTokens({
  database,
  clock,
  keys,
}: Pick<ScimOptions, 'database' | 'clock' | 'keys'>): ScimTokens {
  return {
    create: async (caller, { name, expiresAtMs }) => {
      const nowMs = clock.nowMs()
      if (expiresAtMs !== null && expiresAtMs <= nowMs)
        throw invalidValue('expires_in_seconds', 'The token would have expired already.')
      const { accountId } = caller
      const text = createTokenText()
      const token = await database.transaction(async (transaction) => {
        await keys.requireMayGive(transaction, caller, { projectId: null, roles: GIVEN })
        const [row] = await transaction.query<TokenRow>(
          `INSERT INTO scim_tokens (id, account_id, name, token_hash, token_prefix, created_at, expires_at)
           SELECT $1, $2::uuid, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM scim_tokens WHERE account_id = $2) < $8
           RETURNING ${COLUMNS}`,
          [
            createId(nowMs),
            accountId,
            name,
            hashToken(text),
            shownPrefix(text),
            new Date(nowMs),
            expiresAtMs === null ? null : new Date(expiresAtMs),
            TOKENS_MAX,
          ],
        )
        if (row === undefined)
          throw new AppError(
            'conflict',
            `An account has at most ${TOKENS_MAX} SCIM tokens. Delete one first.`,
          )
        await record(transaction, caller, 'scim_token.created', row.id, { data: { name } })
        return tokenFromRow(row)
      })
      return { token, text }
    },
    list: async (accountId, { limit, afterId }) => {
      const rows = await database.query<TokenRow>(
        `SELECT ${COLUMNS} FROM scim_tokens WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
        [accountId, afterId ?? ID_AFTER_ALL, limit + 1],
      )
      return openPage(rows.map(tokenFromRow), limit)
    },
    read: async (accountId, tokenId) => {
      const [row] = isUuid(tokenId)
        ? await database.query<TokenRow>(
            `SELECT ${COLUMNS} FROM scim_tokens WHERE id = $1 AND account_id = $2`,
            [tokenId, accountId],
          )
        : []
      if (row === undefined) throw notFound('SCIM token')
      return tokenFromRow(row)
    },
    delete: (caller, tokenId) =>
      database.transaction(async (transaction) => {
        const [row] = isUuid(tokenId)
          ? await transaction.query<TokenRow>(
              `DELETE FROM scim_tokens WHERE id = $1 AND account_id = $2 RETURNING ${COLUMNS}`,
              [tokenId, caller.accountId],
            )
          : []
        if (row === undefined) throw notFound('SCIM token')
        await record(transaction, caller, 'scim_token.deleted', row.id, { data: { name: row.name } })
      }),
    authenticate: async (text) => {
      const hash = hashToken(text)
      // Read for each request: a deleted token is refused at once, and a directory does not ask often.
      const [row] =
        hash === null
          ? []
          : await database.query<{ id: string; account_id: string; name: string; is_due: boolean }>(
              `SELECT t.id, t.account_id, t.name,
                 t.last_used_at IS NULL OR t.last_used_at < now() - ${NOTE_USE_AFTER} AS is_due
               FROM scim_tokens t JOIN accounts a ON a.id = t.account_id
               WHERE t.token_hash = $1 AND a.status = 'active' AND (t.expires_at IS NULL OR t.expires_at > now())`,
              [hash],
            )
      if (row === undefined) throw invalidToken()
      if (row.is_due) {
        await database.query(
          `UPDATE scim_tokens SET last_used_at = now()
           WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - ${NOTE_USE_AFTER})`,
          [row.id],
        )
      }
      return { accountId: row.account_id, id: row.id, name: row.name }
    },
  }
}

function invalidToken(): AppError {
  return new AppError(
    'invalid_api_key',
    'The SCIM token is unknown, deleted or expired. Make one in the console, under Directory sync.',
    { headers: { 'www-authenticate': 'Bearer' } },
  )
}

function tokenFromRow(row: TokenRow): ScimToken {
  return {
    id: row.id,
    name: row.name,
    prefix: row.token_prefix,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at?.getTime() ?? null,
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
  }
}

function record(
  transaction: Queryable,
  actor: Caller,
  type: 'scim_token.created' | 'scim_token.deleted',
  tokenId: string,
  details: NonNullable<AccountChange['details']>,
): Promise<void> {
  return recordChange(transaction, {
    actor,
    type,
    projectId: null,
    resourceId: wireId('scimToken', tokenId),
    details,
  })
}
