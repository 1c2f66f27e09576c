import type { Queryable } from '../../storage/database.ts'
import type { Charge } from './usage-record.ts'

/** Writes what charges were for, within the transaction that charges. */
export async function recordUsage(
  transaction: Queryable,
  { writer, charges }: { writer: number; charges: readonly Charge[] },
): Promise<void> {
  await transaction.query(`WITH writer AS (SELECT $1::smallint AS writer), ${recordUsageFrom(2)} SELECT`, [
    writer,
    ...usageColumns(charges),
  ])
}

/** The columns of the charges as arrays, in the order in which `recordUsageFrom` takes them. */
export function usageColumns(charges: readonly Charge[]): string[] {
  const records = charges.map(({ record }) => record)
  return [
    toArray(records, ({ accountId }) => accountId),
    toArray(records, ({ id }) => id),
    toArray(records, ({ keyId }) => keyId),
    toArray(records, ({ environment }) => environment),
    toArray(records, ({ operation }) => operation),
    toTextArray(records, ({ model }) => model),
    toTextArray(records, ({ provider }) => provider),
    toArray(records, ({ outcome }) => outcome),
    toArray(records, ({ promptTokens }) => promptTokens),
    toArray(records, ({ cachedTokens }) => cachedTokens),
    toArray(records, ({ completionTokens }) => completionTokens),
    toArray(records, ({ reasoningTokens }) => reasoningTokens),
    toArray(charges, ({ costNanoUsd }) => costNanoUsd),
    toArray(charges, ({ promotionalNanoUsd }) => promotionalNanoUsd),
    toArray(records, ({ latencyMs }) => latencyMs),
    toArray(records, ({ firstTokenMs }) => firstTokenMs ?? 'NULL'),
    toArray(records, ({ createdAtMs }) => createdAtMs),
  ]
}

/** An array in PostgreSQL's own text. The driver's quotes and copies every element, which these do not need. */
export function toArray<Item>(
  items: readonly Item[],
  read: (item: Item) => string | number | bigint,
): string {
  let text = '{'
  for (const item of items) text += (text.length > 1 ? ',' : '') + String(read(item))
  return text + '}'
}

function toTextArray<Item>(items: readonly Item[], read: (item: Item) => string): string {
  let last = ''
  let lastQuoted = '""'
  return toArray(items, (item) => {
    const text = read(item)
    // Neighbours are mostly of the same model; comparing is cheaper than quoting.
    if (text !== last) {
      last = text
      lastQuoted = `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
    }
    return lastQuoted
  })
}

/** In the order of `usageColumns`. */
const COLUMN_TYPES = {
  account_id: 'uuid',
  id: 'uuid',
  key_id: 'uuid',
  environment: 'text',
  operation: 'text',
  model: 'text',
  provider: 'text',
  outcome: 'text',
  prompt_tokens: 'bigint',
  cached_tokens: 'bigint',
  completion_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  cost_nano_usd: 'bigint',
  promotional_nano_usd: 'bigint',
  latency_ms: 'integer',
  first_token_ms: 'integer',
}
const COLUMNS = Object.keys(COLUMN_TYPES).join(', ')

const HOUR_MS = 3_600_000

const SUMS = [
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
  'promotional_nano_usd',
]

/**
 * Parts of a statement: the requests are written, and added up as `grouped`, from which all sums are made. They need a
 * part `writer` before them, and write nothing when it is empty. The parameters from `$first` on are the arrays.
 */
export function recordUsageFrom(first: number): string {
  const types = [...Object.values(COLUMN_TYPES), 'bigint']
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`).join(', ')
  return `charge AS MATERIALIZED (
    SELECT charge.* FROM (SELECT FROM writer) AS present, unnest(${arrays}) AS charge (${COLUMNS}, created_at_ms)
  ), charged AS (
    INSERT INTO usage_records (${COLUMNS}, created_at)
    SELECT ${COLUMNS}, to_timestamp(created_at_ms / 1000.0) FROM charge
  ), grouped AS MATERIALIZED (
    SELECT account_id, to_timestamp(created_at_ms / ${HOUR_MS} * ${HOUR_MS / 1000}) AS hour, key_id, model, provider,
      operation, min(environment) AS environment, count(*) AS requests,
      ${SUMS.map((column) => `sum(${column})::bigint AS ${column}`).join(', ')}
    FROM charge GROUP BY account_id, created_at_ms / ${HOUR_MS}, key_id, model, provider, operation
  ), rolled_up AS (
    INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, environment, requests,
      ${SUMS.join(', ')}, writer)
    SELECT grouped.*, writer FROM grouped, writer
    ON CONFLICT (account_id, hour, key_id, model, provider, operation, writer) DO UPDATE SET
      ${['requests', ...SUMS].map((column) => `${column} = usage_rollups.${column} + excluded.${column}`).join(', ')}
  ), totalled AS (
    INSERT INTO spend_totals (scope, writer, spent_nano_usd)
    SELECT scope, writer, sum(cost_nano_usd)
    FROM grouped, writer, LATERAL (VALUES
      ('key:' || key_id),
      ('day:' || account_id || ':' || to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD')),
      ('month:' || account_id || ':' || to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM'))) AS scopes (scope)
    WHERE cost_nano_usd > 0
    GROUP BY scope, writer
    ON CONFLICT (scope, writer) DO UPDATE SET spent_nano_usd = spend_totals.spent_nano_usd + excluded.spent_nano_usd
  )`
}
