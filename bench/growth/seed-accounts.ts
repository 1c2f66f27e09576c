import type { Queryable } from '../../src/storage/database.ts'

const KEY_START = 'pk-live-growth-growth-growth-growth-'
/** The digits that the load generator counts up. The account with that number owns the key. */
export const KEY_DIGITS = '00000000'
export const KEY_OF_FIRST_ACCOUNT = KEY_START + KEY_DIGITS

const CREDIT_NANO_USD = 100_000_000_000_000n

/**
 * Inserts accounts with credit and one key each in one statement: ten thousand calls of the API would take longer than the
 * measurement. Ids are derived from the account's number, so that usage can be inserted for them.
 */
export async function seedAccounts(database: Queryable, accounts: number): Promise<void> {
  await database.query(SEED_ACCOUNTS, [accounts, KEY_START, KEY_DIGITS.length, CREDIT_NANO_USD])
}

/** SQL for the id of an account and of its key, by a number from 0. */
export const ACCOUNT_ID = (number: string) =>
  `('01890000-0000-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`
export const KEY_ID = (number: string) =>
  `('01890000-0000-7000-9000-' || lpad(to_hex(${number}), 12, '0'))::uuid`

/** SQL condition for the accounts inserted here. */
export const IS_SEEDED =
  "account_id BETWEEN '01890000-0000-7000-8000-000000000000' AND '01890000-0000-7000-8000-ffffffffffff'"

const SEED_ACCOUNTS = `
  WITH numbers AS (
    SELECT n, ${ACCOUNT_ID('n')} AS account_id, $2 || lpad(n::text, $3::int, '0') AS token
    FROM generate_series(0, $1::int - 1) AS n
  ), account AS (
    INSERT INTO accounts (id, name) SELECT account_id, 'Grown ' || n FROM numbers
  ), api_key AS (
    INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes)
    SELECT ${KEY_ID('n')}, account_id, 'Grown', 'live', sha256(convert_to(token, 'UTF8')), 'pk-live-grow…', '{inference}'
    FROM numbers
  ), credit_account AS (
    INSERT INTO credit_accounts (account_id) SELECT account_id FROM numbers
  ), lot AS (
    INSERT INTO credit_lots (id, account_id, class, granted_nano_usd, remaining_nano_usd)
    SELECT gen_random_uuid(), account_id, 'paid', $4::bigint, $4::bigint FROM numbers
  )
  INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason)
  SELECT 'opening:' || account_id, account_id, book, 'grant', sign * $4::bigint, 'Starting credit'
  FROM numbers CROSS JOIN (VALUES ('credit', 1), ('adjustment', -1)) AS sides (book, sign)`
