import type { Queryable } from '../../../storage/database.ts'
import { queueForExport } from '../../../storage/export-queue/queue-for-export.ts'
import { COST_SUMMED } from '../journal/cost-arrays.ts'
import { RARELY_SUMMED, SUMMED, toJournalText } from '../journal/journal-text.ts'
import { openJournal, unfoldCharges, unfoldSums } from '../journal/journal-sql.ts'
import { sumByLabel } from './sum-by-label.ts'
import { countSpending } from '../budgets/count-spending.ts'
import type { Charge } from './usage-record.ts'

/** Writes the usage rows of charges, in the transaction that charges. */
export async function recordUsage(
  transaction: Queryable,
  { writer, charges }: { writer: number; charges: readonly Charge[] },
): Promise<void> {
  const text = toJournalText(charges.map((charge) => ({ ...charge, parts: [] })))
  await transaction.query(RECORD, [writer, text])
}

const SUMS = [...SUMMED, ...RARELY_SUMMED]
const HOURLY_SUMS = [...SUMS, ...COST_SUMMED]

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
  'uncovered_nano_usd',
  'details',
  'labels',
  'vendor_cost_nano_usd',
].join(', ')

interface RecordedCharges {
  /** The charges and their sums, as FROM items. */
  readonly charge: string
  readonly sums: string
  /** The sums that have labels, at least, as a FROM item. */
  readonly labelled: string
  /** Each writer has its own rows of sums, so that writers do not wait for each other. */
  readonly writer: string
}

/**
 * CTEs of a statement: `charged` writes the requests, `queued` notes them for exports, `grouped` adds them up for all sums, and `charge_parts` has what was charged by
 * account, key and model.
 */
export function recordCharges({ charge, sums, labelled, writer }: RecordedCharges): string {
  return `charged AS (
    INSERT INTO usage_records (${COLUMNS}, created_at)
    SELECT ${COLUMNS}, to_timestamp(created_at_ms / 1000::double precision) FROM ${charge}
    RETURNING account_id, id
  ), ${queueForExport('charged', { isCharged: true })}, grouped AS MATERIALIZED (
    SELECT account_id, to_timestamp(hour_ms / 1000) AS hour,
      key_id, model, provider, operation, min(environment) AS environment, sum(requests)::bigint AS requests,
      ${HOURLY_SUMS.map((column) => `coalesce(sum(${column}), 0)::bigint AS ${column}`).join(', ')}
    FROM ${sums} GROUP BY account_id, hour, key_id, model, provider, operation
  ), rolled_up AS (
    INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, environment, requests,
      ${HOURLY_SUMS.join(', ')}, writer)
    SELECT grouped.*, ${writer} FROM grouped
    ON CONFLICT (account_id, hour, key_id, model, provider, operation, writer) DO UPDATE SET
      ${['requests', ...HOURLY_SUMS].map((column) => `${column} = usage_rollups.${column} + excluded.${column}`).join(', ')}
  ), totalled AS (
    INSERT INTO spend_by_day (account_id, day, key_id, spent_nano_usd, writer)
    SELECT account_id, (hour AT TIME ZONE 'UTC')::date AS day, key_id, sum(cost_nano_usd), ${writer}
    FROM grouped WHERE cost_nano_usd > 0 GROUP BY account_id, day, key_id
    ON CONFLICT (account_id, day, key_id, writer) DO UPDATE SET
      spent_nano_usd = spend_by_day.spent_nano_usd + excluded.spent_nano_usd
    RETURNING account_id, day
  ), charge_parts AS MATERIALIZED (
    SELECT account_id, key_id, model, sum(requests)::bigint AS requests, sum(cost_nano_usd)::bigint AS amount_nano_usd
    FROM grouped WHERE cost_nano_usd > 0 GROUP BY account_id, key_id, model
  ), booked AS (
    -- The day of the entry, which this transaction writes too: what a statement says about charges agrees with the ledger.
    INSERT INTO charges_by_day (account_id, day, key_id, model, requests, amount_nano_usd, writer)
    SELECT account_id, (now() AT TIME ZONE 'UTC')::date AS day, key_id, model, requests, amount_nano_usd, ${writer}
    FROM charge_parts
    ON CONFLICT (account_id, day, key_id, model, writer) DO UPDATE SET
      requests = charges_by_day.requests + excluded.requests,
      amount_nano_usd = charges_by_day.amount_nano_usd + excluded.amount_nano_usd
  ), noted_budgets AS (
    -- Budgets are compared with thresholds later, outside of the charge.
    INSERT INTO budget_checks (account_id, day)
    SELECT DISTINCT account_id, totalled.day FROM totalled JOIN spend_budgets USING (account_id)
  ), ${sumByLabel({ labelled, writer })}, ${countSpending(writer)}`
}

const RECORD = `
  WITH written AS (SELECT 1 AS sequence, $2::text AS charges), opened AS MATERIALIZED (
    SELECT * FROM ${openJournal('written')}
  ),
  ${recordCharges({
    charge: unfoldCharges('opened'),
    sums: unfoldSums('opened'),
    labelled: unfoldSums('opened'),
    writer: '$1::smallint',
  })} SELECT`
