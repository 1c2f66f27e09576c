import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../kernel/clock.ts'
import type { Queryable } from '../../../storage/database.ts'
import { isHashOfToken, TOKEN_HASH_PREFIX } from '../key-form.ts'
import type { Permission } from '../permissions/permissions.ts'
import type { Caller } from './caller.ts'
import { markOfSecret } from './secret-mark.ts'
import { callerOf, SELECT_CALLER, type CallerRow } from './read-caller.ts'

/** Limits the effect of a change that was committed but not announced, because its process died in between. */
const REFRESH_AFTER_MS = 30_000
/**
 * Uses within this time after a recorded one are not written: ten thousand busy keys would cause as many row updates every few
 * seconds.
 */
export const NOTE_USE_AFTER_MS = 60_000

/** What is known of a key or an access token. */
export interface KnownKey {
  readonly caller: Caller
  readonly expiresAtMs: number | null
  /** Null if the account is not suspended. */
  readonly suspension: { readonly reason: string | null } | null
  readonly isRevoked: boolean
  refreshAtMs: number
  noteUseAtMs: number
}

interface HashRow extends CallerRow {
  readonly key_hash: Buffer
  readonly former_key_hash: Buffer | null
  readonly token_hash?: Buffer
}

interface TokenRow extends HashRow {
  readonly grant_id: string | null
  readonly token_expires_at: Date
}

/** Also by the secret that a key had before its last rotation. */
const READ_KEYS = `${SELECT_CALLER}
  WHERE (k.key_hash = ANY ($1::bytea[]) OR k.former_key_hash = ANY ($1::bytea[])) AND NOT k.is_of_sessions`
const READ_TOKENS = `
  SELECT c.*, t.token_hash, t.grant_id, t.expires_at AS token_expires_at FROM access_tokens t
  CROSS JOIN LATERAL (${SELECT_CALLER} WHERE k.id = t.key_id AND k.account_id = t.account_id AND k.is_of_tokens) c
  WHERE t.token_hash = ANY ($1::bytea[])`

/** Returns the existing keys and access tokens by hash. */
export async function readKnownKeys(
  database: Queryable,
  keyHashes: readonly string[],
  clock: Clock,
): Promise<Map<string, KnownKey>> {
  const ofTokens = keyHashes.filter(isHashOfToken)
  const ofKeys = keyHashes.filter((keyHash) => !isHashOfToken(keyHash))
  const known = new Map<string, KnownKey>()
  const keyRows = await readRows<HashRow>(database, READ_KEYS, new Map(ofKeys.map((hash) => [hash, hash])))
  for (const [keyHash, row] of keyRows)
    known.set(
      keyHash,
      row.key_hash.toString('hex') === keyHash ? knownKeyOf(row, clock) : knownFormerOf(row, clock),
    )
  const hexOfTokens = new Map(ofTokens.map((hash) => [hash.slice(TOKEN_HASH_PREFIX.length), hash]))
  for (const [keyHash, row] of await readRows<TokenRow>(database, READ_TOKENS, hexOfTokens))
    known.set(keyHash, knownTokenOf(row, clock))
  return known
}

/**
 * Returns the rows by the names that they were asked for.
 * @param asked the names by hash in hexadecimal
 */
async function readRows<Row extends HashRow>(
  database: Queryable,
  statement: string,
  asked: ReadonlyMap<string, string>,
): Promise<[string, Row][]> {
  if (asked.size === 0) return []
  const hashes = new Map([...asked.keys()].map((hex) => [hex, Buffer.from(hex, 'hex')]))
  const rows = await database.query<Row>(statement, [[...hashes.values()]])
  return rows.flatMap((row): [string, Row][] =>
    hashesOf(row).flatMap((rowHash): [string, Row][] => {
      const hex = rowHash.toString('hex')
      const name = asked.get(hex)
      const hashBytes = hashes.get(hex)
      // The index found the row by its hash. The final comparison takes constant time.
      const isAsked = name !== undefined && hashBytes !== undefined && timingSafeEqual(rowHash, hashBytes)
      return isAsked ? [[name, row]] : []
    }),
  )
}

/** A row that was read by its token is found by it only. */
function hashesOf({ token_hash: token, key_hash: key, former_key_hash: former }: HashRow): Buffer[] {
  if (token !== undefined) return [token]
  return former === null ? [key] : [key, former]
}

function knownKeyOf(row: HashRow, clock: Clock): KnownKey {
  const lastUsedAtMs = row.last_used_at?.getTime() ?? null
  return {
    caller: Object.freeze({ ...callerOf(row), secretMark: markOfSecret(row.key_hash) }),
    expiresAtMs: row.expires_at?.getTime() ?? null,
    suspension: row.account_status === 'active' ? null : { reason: row.suspended_reason },
    isRevoked: row.revoked_at !== null || row.is_ended,
    refreshAtMs: clock.monotonicMs() + REFRESH_AFTER_MS,
    noteUseAtMs: lastUsedAtMs === null ? 0 : Math.min(lastUsedAtMs, clock.nowMs()) + NOTE_USE_AFTER_MS,
  }
}

/** Both secrets are one key. The former one ends before it. */
function knownFormerOf(row: HashRow, clock: Clock): KnownKey {
  const known = knownKeyOf(row, clock)
  const endsAtMs = row.former_ends_at?.getTime() ?? 0
  const secretMark = row.former_key_hash === null ? '' : markOfSecret(row.former_key_hash)
  const caller = Object.freeze({ ...known.caller, secretMark })
  return { ...known, caller, expiresAtMs: Math.min(endsAtMs, known.expiresAtMs ?? Infinity) }
}

/** The caller has no expiry: a request that began with a valid token may end after it. */
function knownTokenOf(row: TokenRow, clock: Clock): KnownKey {
  const known = knownKeyOf(row, clock)
  const permissions = withoutMoney(known.caller.permissions)
  const { secretMark: _, ...ofKey } = known.caller
  const caller = Object.freeze({ ...ofKey, permissions, accessToken: { grantId: row.grant_id } })
  return { ...known, caller, expiresAtMs: row.token_expires_at.getTime() }
}

/** Sets of permissions are shared, so those without money are too. */
const setsWithoutMoney = new WeakMap<ReadonlySet<Permission>, ReadonlySet<Permission>>()

function withoutMoney(permissions: ReadonlySet<Permission>): ReadonlySet<Permission> {
  if (!permissions.has('billing.manage')) return permissions
  const known = setsWithoutMoney.get(permissions)
  if (known !== undefined) return known
  const made = new Set([...permissions].filter((permission) => permission !== 'billing.manage'))
  setsWithoutMoney.set(permissions, made)
  return made
}
