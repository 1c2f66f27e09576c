import { invalidValue } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import { ACCOUNT_COLUMNS, type AccountRow, type AccountStatus } from '../account-record.ts'
import { failedOf, figureDays, spentOf } from './read-figures.ts'

/** Which accounts to list. Null for all. */
export interface AccountFilter {
  /** Part of the name in any case, an account id, or the visible beginning of a key. */
  readonly search: string | null
  readonly status: AccountStatus | null
  /** Bounds of the figure that accounts are sorted by, in nano-dollars or requests. Only with such an order. */
  readonly least?: bigint | null
  readonly most?: bigint | null
}

/** By what accounts are sorted. `growth` is what was spent more than in the days before. */
export const ACCOUNT_SORTS = ['created', 'name', 'balance', 'spend', 'growth', 'errors'] as const
export type AccountSort = (typeof ACCOUNT_SORTS)[number]

export interface AccountPageRequest {
  readonly limit: number
  /** The cursor of the page before. */
  readonly after: string | null
  readonly sort: AccountSort
  readonly order: 'asc' | 'desc'
}

interface Days {
  /** SQL for the first day, bound as a parameter. */
  readonly first: () => string
  readonly firstBefore: () => string
}

/** SQL of one row with the column `value` for the account `accounts.id`. Each reads only what the account has. */
const FIGURES: Readonly<Record<Exclude<AccountSort, 'created' | 'name'>, (days: Days) => string>> = {
  balance: () => `SELECT (
      coalesce((SELECT sum(remaining_nano_usd) FROM credit_lots
        WHERE account_id = accounts.id AND remaining_nano_usd > 0 AND (expires_at IS NULL OR expires_at > now())), 0)
      + coalesce((SELECT sum(amount_nano_usd - spent_nano_usd) FROM credit_leases
        WHERE account_id = accounts.id AND lot_id IS NOT NULL), 0)
      - coalesce((SELECT debt_nano_usd FROM credit_accounts WHERE account_id = accounts.id), 0)
    )::bigint AS value`,
  spend: ({ first }) => {
    const day = first()
    return `SELECT spent AS value FROM (${spentOf('accounts.id', day, day)}) AS spending`
  },
  growth: ({ first, firstBefore }) =>
    `SELECT spent - before AS value FROM (${spentOf('accounts.id', first(), firstBefore())}) AS spending`,
  errors: ({ first }) => `SELECT failed AS value FROM (${failedOf('accounts.id', first())}) AS failures`,
}

// `strpos` takes the text as it is, so that `%` and `_` have no special meaning.
const IS_LISTED = `
  ($1::text IS NULL OR strpos(lower(name), lower($1)) > 0 OR id::text = lower($1)
    OR id IN (SELECT account_id FROM api_keys WHERE key_prefix = $1))
  AND ($2::text IS NULL OR status = $2)`

/**
 * Reads a page in any order. Of two accounts with the same value, the newer one is larger. A figure is computed of each account that
 * the filter finds, by indexes that begin with its id.
 */
export async function listAccounts(
  queryable: Queryable,
  page: AccountPageRequest,
  { search, status, least = null, most = null }: AccountFilter,
  nowMs: number,
): Promise<{ rows: readonly AccountRow[]; total: number; nextCursor: string | null }> {
  const { sort, limit } = page
  const values: unknown[] = [search, status]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const { first, firstBefore } = figureDays(nowMs)
  const days: Days = { first: () => `${bind(first)}::date`, firstBefore: () => `${bind(firstBefore)}::date` }
  const figure = sort === 'created' || sort === 'name' ? null : FIGURES[sort](days)
  const direction = page.order === 'asc' ? 'ASC' : 'DESC'
  const bounds = [
    ...(figure === null || least === null ? [] : [` AND value >= ${bind(least)}::bigint`]),
    ...(figure === null || most === null ? [] : [` AND value <= ${bind(most)}::bigint`]),
  ].join('')
  const isFound = `${IS_LISTED}${bounds}`
  const joined = figure === null ? '' : `CROSS JOIN LATERAL (${figure}) AS figure`
  // Accounts are counted without their figures, unless these decide.
  const counted = bounds === '' ? '' : joined
  const countedValues = bounds === '' ? [search, status] : [...values]
  const [rows, [count]] = await Promise.all([
    // Reads one row more than requested to detect further pages.
    queryable.query<AccountRow & { value: bigint | null }>(
      `SELECT ${ACCOUNT_COLUMNS}, ${figure === null ? 'NULL::bigint' : 'value'} AS value FROM accounts ${joined}
       WHERE ${isFound}${isBehind(page, bind)}
       ORDER BY ${positionOf(sort)} ${direction}, id ${direction} LIMIT ${bind(limit + 1)}`,
      values,
    ),
    queryable.query<{ total: bigint }>(
      `SELECT count(*) AS total FROM accounts ${counted} WHERE ${isFound}`,
      countedValues,
    ),
  ])
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const nextCursor = last === undefined ? null : cursorOf(last)
  return { rows: rows.slice(0, limit), total: Number(count?.total ?? 0), nextCursor }
}

function positionOf(sort: AccountSort): string {
  if (sort === 'created') return 'id'
  return sort === 'name' ? 'lower(name)' : 'value'
}

/** SQL: whether an account comes after the cursor. */
function isBehind({ sort, order, after }: AccountPageRequest, bind: (value: unknown) => string): string {
  if (after === null) return ''
  const { value, id } = parseCursor(after)
  const isFigure = sort !== 'created' && sort !== 'name'
  if (isFigure !== (value !== null)) throw badCursor()
  const at = `${bind(id)}::uuid`
  const position = isFigure
    ? `${bind(value)}::numeric`
    : `(SELECT ${positionOf(sort)} FROM accounts WHERE id = ${at})`
  return ` AND (${positionOf(sort)}, id) ${order === 'asc' ? '>' : '<'} (${sort === 'created' ? at : position}, ${at})`
}

/** The id of the last account, behind its figure in lists that are sorted by one: it may be another one by then. */
function cursorOf({ id, value }: { readonly id: string; readonly value: bigint | null }): string {
  return value === null ? id : `${value}_${id}`
}

const FIGURE_OF_CURSOR = /^-?\d{1,19}$/

function parseCursor(cursor: string): { readonly value: string | null; readonly id: string } {
  const [id = '', value = null, ...others] = cursor.split('_').toReversed()
  if (!isUuid(id) || others.length > 0 || (value !== null && !FIGURE_OF_CURSOR.test(value))) throw badCursor()
  return { value, id }
}

function badCursor(): Error {
  return invalidValue(
    'after',
    'after must be a cursor from the next_cursor of an earlier page, in the same order.',
  )
}
