import type { Queryable } from '../../storage/database.ts'
import { JOURNAL_ARRAYS, toJournalText, unfoldCharges } from './journal-text.ts'
import type { Charge } from './usage-record.ts'

/** Writes what charges were for, within the transaction that charges. */
export async function recordUsage(
  transaction: Queryable,
  { writer, charges }: { writer: number; charges: readonly Charge[] },
): Promise<void> {
  const text = toJournalText(charges.map((charge) => ({ ...charge, parts: [] })))
  await transaction.query(RECORD, [writer, text])
}

const SUMS = [
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
  'promotional_nano_usd',
]

const COLUMNS = [
  'account_id',
  'id',
  'key_id',
  'environment',
  'operation',
  'model',
  'provider',
  'outcome',
  ...SUMS,
  'latency_ms',
  'first_token_ms',
].join(', ')

/**
 * Parts of a statement: the requests of a FROM item `charge` are written, and added up as `grouped`, from which all sums are
 * made. They go to the rows of one writer, so that nobody waits for another.
 */
export function recordCharges({ charge, writer }: { charge: string; writer: string }): string {
  return `charged AS (
    INSERT INTO usage_records (${COLUMNS}, created_at)
    SELECT ${COLUMNS}, to_timestamp(created_at_ms / 1000::double precision) FROM ${charge}
    RETURNING account_id, key_id, environment, operation, model, provider, created_at, ${SUMS.join(', ')}
  ), grouped AS MATERIALIZED (
    SELECT account_id, date_bin('1 hour', created_at, 'epoch') AS hour, key_id, model, provider, operation,
      min(environment) AS environment, count(*) AS requests,
      ${SUMS.map((column) => `sum(${column})::bigint AS ${column}`).join(', ')}
    FROM charged GROUP BY account_id, hour, key_id, model, provider, operation
  ), rolled_up AS (
    INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, environment, requests,
      ${SUMS.join(', ')}, writer)
    SELECT grouped.*, ${writer} FROM grouped
    ON CONFLICT (account_id, hour, key_id, model, provider, operation, writer) DO UPDATE SET
      ${['requests', ...SUMS].map((column) => `${column} = usage_rollups.${column} + excluded.${column}`).join(', ')}
  ), totalled AS (
    INSERT INTO spend_totals (scope, writer, spent_nano_usd)
    SELECT scope, ${writer}, sum(cost_nano_usd)
    FROM grouped, LATERAL (VALUES
      ('key:' || key_id),
      ('day:' || account_id || ':' || to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD')),
      ('month:' || account_id || ':' || to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM'))) AS scopes (scope)
    WHERE cost_nano_usd > 0
    GROUP BY scope
    ON CONFLICT (scope, writer) DO UPDATE SET spent_nano_usd = spend_totals.spent_nano_usd + excluded.spent_nano_usd
  )`
}

const RECORD = `
  WITH journal AS MATERIALIZED (
    SELECT 1 AS sequence, ${JOURNAL_ARRAYS.labels} AS labels, ${JOURNAL_ARRAYS.charges} AS charges
    FROM (VALUES ($2::text)) AS written (charges)
  ), ${recordCharges({ charge: unfoldCharges('journal'), writer: '$1::smallint' })} SELECT`
